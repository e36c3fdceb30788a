import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Writes the lines that test/support/exclusion-log.ts reads. System.nanoTime() is CLOCK_MONOTONIC on Linux, the clock of
 * every other writer of the file, and a line is one write in append mode.
 */
final class ExclusionLog {
    private static final long BEAT_MS = 3;
    private final List<FileChannel> files = new ArrayList<>();
    private final int leastMs;
    private final int mostMs;

    ExclusionLog(String[] paths, int leastMs, int mostMs) throws Exception {
        for (String path : paths) {
            files.add(FileChannel.open(Path.of(path), StandardOpenOption.CREATE, StandardOpenOption.APPEND));
        }
        this.leastMs = leastMs;
        this.mostMs = mostMs;
    }

    /** One interval: begin, beats, end. */
    void work(String id, String kind, String ticket) throws Exception {
        long workMs = ThreadLocalRandom.current().nextInt(leastMs, mostMs + 1);
        long until = System.nanoTime() + workMs * 1_000_000;
        write("begin", id, " " + kind + " - " + ticket);
        for (long left; (left = until - System.nanoTime()) > 0; ) {
            Thread.sleep(Math.min(BEAT_MS, left / 1_000_000 + 1));
            write("beat", id, "");
        }
        write("end", id, "");
    }

    private void write(String verb, String id, String rest) throws Exception {
        for (FileChannel file : files) {
            String line = verb + " " + System.nanoTime() + " " + id + rest + "\n";
            file.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8)));
        }
    }
}
