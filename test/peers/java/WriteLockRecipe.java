import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.recipes.lock.LockListener;
import org.apache.zookeeper.recipes.lock.WriteLock;

/** ZooKeeper's own recipe, unchanged: org.apache.zookeeper.recipes.lock.WriteLock. */
final class WriteLockRecipe implements Recipe {
    /** When its predecessor vanishes between listing and watching, WriteLock waits for ever. */
    private static final long STUCK_MS = 3_000;
    private final ZooKeeper zookeeper;
    private final WriteLock lock;

    WriteLockRecipe(String servers, String path) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        zookeeper = new ZooKeeper(servers, 10_000, event -> {
            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) connected.countDown();
        });
        connected.await();
        lock = new WriteLock(zookeeper, path, ZooDefs.Ids.OPEN_ACL_UNSAFE);
    }

    @Override
    public void acquire() throws Exception {
        for (;;) {
            CountDownLatch acquired = new CountDownLatch(1);
            lock.setLockListener(new LockListener() {
                @Override
                public void lockAcquired() {
                    acquired.countDown();
                }

                @Override
                public void lockReleased() {}
            });
            lock.lock();
            if (acquired.await(STUCK_MS, TimeUnit.MILLISECONDS)) return;
            lock.unlock();
        }
    }

    @Override
    public void release() {
        lock.unlock();
    }

    @Override
    public String kind() {
        return "exclusive";
    }

    @Override
    public String znode() {
        return lock.getId();
    }

    @Override
    public void close() throws Exception {
        lock.close();
        zookeeper.close();
    }
}
