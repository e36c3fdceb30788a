import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.StringJoiner;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * Curator's InterProcessMutex, as its documentation uses it. Arguments: servers, path; then on stdin `cycles N`,
 * `acquire`, `release`, `queue N SESSIONS` (one session whatever it says), `drain N`.
 */
public final class CuratorLocks {
    private static CuratorFramework client;
    private static String path;
    private static InterProcessMutex lock;
    private static final AtomicInteger left = new AtomicInteger();
    private static volatile CountDownLatch drained;

    public static void main(String[] args) throws Exception {
        client = CuratorFrameworkFactory.newClient(args[0], new ExponentialBackoffRetry(1000, 3));
        client.start();
        path = args[1];
        lock = new InterProcessMutex(client, path);
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = input.readLine()) != null;) {
            String[] words = line.split(" ");
            System.out.println(answer(words[0], words.length > 1 ? Integer.parseInt(words[1]) : 0));
        }
        client.close();
        // Whoever still waits would keep the process.
        System.exit(0);
    }

    private static String answer(String word, int count) throws Exception {
        double at = now();
        switch (word) {
            case "cycles":
                return cycles(count);
            case "acquire":
                lock.acquire();
                return "{\"at\":" + now() + "}";
            case "release":
                lock.release();
                return "{\"at\":" + at + "}";
            case "queue":
                lock.acquire();
                for (int index = 0; index < count; index++) new Thread(CuratorLocks::waitForIt).start();
                return "{}";
            case "drain":
                left.set(count);
                drained = new CountDownLatch(1);
                lock.release();
                drained.await();
                return "{\"seconds\":" + (now() - at) / 1e6 + "}";
            default:
                throw new IllegalArgumentException(word);
        }
    }

    private static String cycles(int count) throws Exception {
        StringJoiner acquires = new StringJoiner(",", "[", "]");
        double begun = now();
        for (int index = 0; index < count; index++) {
            double at = now();
            lock.acquire();
            acquires.add(String.valueOf(now() - at));
            lock.release();
        }
        return "{\"acquires\":" + acquires + ",\"seconds\":" + (now() - begun) / 1e6 + "}";
    }

    private static void waitForIt() {
        InterProcessMutex mine = new InterProcessMutex(client, path);
        try {
            mine.acquire();
            // The last of those asked for keeps it.
            if (left.decrementAndGet() == 0) drained.countDown();
            else mine.release();
        } catch (Exception closed) {
            return;
        }
    }

    private static double now() {
        return System.nanoTime() / 1000.0;
    }
}
