import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.AsyncCallback.DataCallback;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;

/** Reads through ZooKeeper's own client, all asked for at once. Arguments: servers, path; then `read N` on stdin. */
public final class JavaReads {
    public static void main(String[] args) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper client = new ZooKeeper(args[0], 30_000, event -> {
            if (event.getState() == KeeperState.SyncConnected) connected.countDown();
        });
        connected.await();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = input.readLine()) != null;) {
            System.out.println(read(client, args[1], Integer.parseInt(line.split(" ")[1])));
        }
        client.close();
    }

    private static String read(ZooKeeper client, String path, int count) throws Exception {
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        AtomicInteger lost = new AtomicInteger();
        CountDownLatch answers = new CountDownLatch(count);
        DataCallback callback = (code, asked, context, data, stat) -> {
            if (code != 0 || data.length != 100) lost.incrementAndGet();
            answers.countDown();
        };
        long cpu = system.getProcessCpuTime();
        long startedAt = System.nanoTime();
        for (int index = 0; index < count; index++) client.getData(path, false, callback, null);
        answers.await();
        double seconds = (System.nanoTime() - startedAt) / 1e9;
        double micros = (system.getProcessCpuTime() - cpu) / 1e3;
        return "{\"seconds\":" + seconds + ",\"cpuMicros\":" + micros + ",\"lost\":" + lost + "}";
    }
}
