import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's recipes, unchanged; subclasses only show which znode is theirs. Each has a session of its own. */
abstract class CuratorRecipe implements Recipe {
    protected final CuratorFramework client;
    private final String kind;

    private CuratorRecipe(String servers, String kind) {
        this.kind = kind;
        client = CuratorFrameworkFactory.newClient(servers, 10_000, 10_000, new ExponentialBackoffRetry(50, 5));
        client.start();
    }

    static CuratorRecipe of(String recipe, String servers, String path) {
        String[] words = recipe.split(":");
        switch (words[0]) {
            case "mutex":
                return new MutexRecipe(servers, "exclusive", path, 'm');
            case "read":
                return new MutexRecipe(servers, "read", path, 'r');
            case "write":
                return new MutexRecipe(servers, "write", path, 'w');
            case "semaphore":
                return new SemaphoreRecipe(servers, path, Integer.parseInt(words[1]));
            case "multi":
                return new MultiRecipe(servers, path, words[1].split(","));
            case "latch":
                return new LatchRecipe(servers, path);
            default:
                throw new IllegalArgumentException("no such recipe: " + recipe);
        }
    }

    @Override
    public String kind() {
        return kind;
    }

    @Override
    public String znode() {
        return null;
    }

    @Override
    public void close() {
        client.close();
    }

    private interface Visible {
        String znode();
    }

    private static final class Mutex extends InterProcessMutex implements Visible {
        Mutex(CuratorFramework client, String path) {
            super(client, path);
        }

        @Override
        public String znode() {
            return getLockPath();
        }
    }

    private static final class Write extends InterProcessReadWriteLock.WriteLock implements Visible {
        Write(CuratorFramework client, String path) {
            super(client, path, null);
        }

        @Override
        public String znode() {
            return getLockPath();
        }
    }

    private static final class Read extends InterProcessReadWriteLock.ReadLock implements Visible {
        Read(CuratorFramework client, String path) {
            super(client, path, null, new Write(client, path));
        }

        @Override
        public String znode() {
            return getLockPath();
        }
    }

    private static final class MutexRecipe extends CuratorRecipe {
        private final InterProcessMutex lock;

        MutexRecipe(String servers, String kind, String path, char type) {
            super(servers, kind);
            lock = type == 'm' ? new Mutex(client, path) : type == 'r' ? new Read(client, path) : new Write(client, path);
        }

        @Override
        public void acquire() throws Exception {
            lock.acquire();
        }

        @Override
        public void release() throws Exception {
            lock.release();
        }

        @Override
        public String znode() {
            return ((Visible) lock).znode();
        }
    }

    private static final class SemaphoreRecipe extends CuratorRecipe {
        private final InterProcessSemaphoreV2 semaphore;
        private Lease lease;

        SemaphoreRecipe(String servers, String path, int limit) {
            super(servers, "permit");
            semaphore = new InterProcessSemaphoreV2(client, path, limit);
        }

        @Override
        public void acquire() throws Exception {
            lease = semaphore.acquire();
        }

        @Override
        public void release() {
            semaphore.returnLease(lease);
        }
    }

    /** Takes the paths one after the other, in the order given. */
    private static final class MultiRecipe extends CuratorRecipe {
        private final InterProcessMultiLock lock;

        MultiRecipe(String servers, String parent, String[] names) {
            super(servers, "exclusive");
            List<String> paths = Arrays.stream(names).map(name -> parent + "/" + name).collect(Collectors.toList());
            lock = new InterProcessMultiLock(client, paths);
        }

        @Override
        public void acquire() throws Exception {
            lock.acquire();
        }

        @Override
        public void release() throws Exception {
            lock.release();
        }
    }

    private static final class LatchRecipe extends CuratorRecipe {
        private final String path;
        private LeaderLatch latch;

        LatchRecipe(String servers, String path) {
            super(servers, "exclusive");
            this.path = path;
        }

        @Override
        public void acquire() throws Exception {
            latch = new LeaderLatch(client, path);
            latch.start();
            latch.await();
        }

        @Override
        public void release() throws Exception {
            latch.close();
        }

        @Override
        public String znode() {
            return latch.getOurPath();
        }
    }
}
