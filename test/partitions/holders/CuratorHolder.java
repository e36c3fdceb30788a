import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * A holder as Curator's documentation shows it: CuratorHolder SERVERS PATH LOG NAME TIMEOUT_MS WORK_MS. Writes to the log
 * for as long as isAcquiredInThisProcess() is true and the work lasts. Prints `state NANOSECONDS STATE` when Curator tells
 * listeners about the connection, which the documentation's example of a lock does without.
 */
public final class CuratorHolder {
    private static final long BEAT_MS = 3;
    private static FileChannel log;
    private static String id;

    public static void main(String[] args) throws Exception {
        log = FileChannel.open(Path.of(args[2]), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        id = args[3] + "#1";
        int timeoutMs = Integer.parseInt(args[4]);
        CuratorFramework client = CuratorFrameworkFactory.newClient(
            args[0], timeoutMs, 10_000, new ExponentialBackoffRetry(1000, 3));
        client.getConnectionStateListenable().addListener(
            (framework, state) -> System.out.println("state " + System.nanoTime() + " " + state));
        client.start();

        InterProcessMutex lock = new InterProcessMutex(client, args[1]);
        lock.acquire();
        write("begin", " exclusive - -");
        long until = System.nanoTime() + Long.parseLong(args[5]) * 1_000_000;
        while (lock.isAcquiredInThisProcess() && System.nanoTime() < until) {
            write("beat", "");
            Thread.sleep(BEAT_MS);
        }
        write("end", "");
        // The release may need a server that cannot be reached; what is measured is over.
        Runtime.getRuntime().halt(0);
    }

    private static void write(String verb, String rest) throws Exception {
        String line = verb + " " + System.nanoTime() + " " + id + rest + "\n";
        log.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8)));
    }
}
