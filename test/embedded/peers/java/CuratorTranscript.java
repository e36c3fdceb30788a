import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.transaction.CuratorTransactionResult;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.framework.recipes.cache.TreeCache;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.server.auth.DigestAuthenticationProvider;

/**
 * Stock Curator does a bit of everything on an empty chroot and prints what came of it. Argument: the connect string.
 * Nothing that may differ between two good servers is printed: no zxids, no times, no session ids.
 */
public final class CuratorTranscript {
    private static final long DEADLINE_S = 10;
    private static final ExecutorService threads = Executors.newCachedThreadPool();
    private static final List<CuratorFramework> opened = new ArrayList<>();
    private static String servers;

    private interface Part {
        void run(CuratorFramework a, CuratorFramework b) throws Exception;
    }

    public static void main(String[] args) throws Exception {
        servers = args[0];
        CuratorFramework a = connect();
        CuratorFramework b = connect();
        part("znodes", CuratorTranscript::znodes, a, b);
        part("permissions", CuratorTranscript::permissions, a, b);
        part("mutex", CuratorTranscript::mutex, a, b);
        part("revocation", CuratorTranscript::revocation, a, b);
        part("read-write lock", CuratorTranscript::readWriteLock, a, b);
        part("semaphore", CuratorTranscript::semaphore, a, b);
        part("latch", CuratorTranscript::latch, a, b);
        part("CuratorCache", CuratorTranscript::curatorCache, a, b);
        part("TreeCache", CuratorTranscript::treeCache, a, b);
        part("barriers", CuratorTranscript::barriers, a, b);
        part("counters", CuratorTranscript::counters, a, b);
        part("lost session", CuratorTranscript::lostSession, a, b);
        say("# end");
        for (CuratorFramework client : opened) client.close();
        threads.shutdownNow();
    }

    private static void part(String name, Part part, CuratorFramework a, CuratorFramework b) throws Exception {
        say("#", name);
        part.run(a, b);
    }

    private static CuratorFramework connect() throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.builder()
            .connectString(servers)
            .sessionTimeoutMs(10_000)
            .connectionTimeoutMs(10_000)
            .retryPolicy(new ExponentialBackoffRetry(50, 5))
            .build();
        client.start();
        client.blockUntilConnected();
        opened.add(client);
        return client;
    }

    private static void say(Object... words) {
        List<String> texts = new ArrayList<>();
        for (Object word : words) texts.add(String.valueOf(word));
        System.out.println(String.join(" ", texts));
    }

    private static Object attempt(Callable<?> call) {
        try {
            return call.call();
        } catch (Exception error) {
            return error.getClass().getSimpleName();
        }
    }

    private static void until(String what, Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_S);
        while (!condition.call()) {
            if (System.nanoTime() > end) throw new IllegalStateException("waited in vain for " + what);
            Thread.sleep(5);
        }
    }

    private static <T> T get(Future<T> future) throws Exception {
        return future.get(DEADLINE_S, TimeUnit.SECONDS);
    }

    private static String shape(Stat stat) {
        if (stat == null) return "nothing";
        return String.format("v%d c%d a%d len%d kids%d %s", stat.getVersion(), stat.getCversion(), stat.getAversion(),
            stat.getDataLength(), stat.getNumChildren(), stat.getEphemeralOwner() == 0 ? "persistent" : "ephemeral");
    }

    /** Protected nodes have a random part in their names. */
    private static List<String> plain(Collection<String> names) {
        return names.stream().map(name -> name.replaceAll("[0-9a-f]{8}-[0-9a-f-]{27}", "<uuid>")).sorted()
            .collect(Collectors.toList());
    }

    private static void znodes(CuratorFramework a, CuratorFramework b) throws Exception {
        say(a.create().creatingParentsIfNeeded().forPath("/z/deep/er", "x".getBytes()));
        say(a.create().creatingParentContainersIfNeeded().forPath("/box/kid"));
        Stat stat = new Stat();
        say(new String(b.getData().storingStatIn(stat).forPath("/z/deep/er")), shape(stat));
        say(shape(b.setData().forPath("/z", "yy".getBytes())), attempt(() -> b.setData().withVersion(0).forPath("/z")));
        say(shape(a.checkExists().forPath("/none")), attempt(() -> a.getData().forPath("/none")));
        say(attempt(() -> a.create().forPath("/z")), attempt(() -> a.create().orSetData().forPath("/z", "3".getBytes())));
        say(attempt(() -> a.delete().forPath("/z")), a.delete().deletingChildrenIfNeeded().forPath("/z"));
        say(a.create().withMode(CreateMode.PERSISTENT_SEQUENTIAL).forPath("/s-"),
            shape(b.checkExists().forPath(a.create().withMode(CreateMode.EPHEMERAL).forPath("/e"))));
        say(plain(List.of(a.create().withProtection().withMode(CreateMode.EPHEMERAL_SEQUENTIAL).forPath("/p-"))));
        say(a.create().withTtl(100_000).withMode(CreateMode.PERSISTENT_WITH_TTL).forPath("/ttl"),
            a.create().withMode(CreateMode.CONTAINER).forPath("/container"));
        Stat made = new Stat();
        a.create().storingStatIn(made).forPath("/stat", "12".getBytes());
        say(shape(made), shape(a.checkExists().forPath("/container")));
        Collection<CuratorTransactionResult> results = a.transaction().forOperations(
            a.transactionOp().create().forPath("/tx", "1".getBytes()),
            a.transactionOp().check().withVersion(0).forPath("/tx"),
            a.transactionOp().setData().withVersion(0).forPath("/tx", "22".getBytes()),
            a.transactionOp().create().withMode(CreateMode.CONTAINER).forPath("/tx/box"),
            a.transactionOp().delete().forPath("/tx/box"));
        for (CuratorTransactionResult result : results) {
            say(result.getType(), result.getError(), result.getForPath(), result.getResultPath(),
                result.getResultStat() == null ? "" : shape(result.getResultStat()));
        }
        try {
            a.transaction().forOperations(
                a.transactionOp().create().forPath("/tx/a"),
                a.transactionOp().check().withVersion(7).forPath("/tx"),
                a.transactionOp().delete().forPath("/tx/b"));
        } catch (org.apache.zookeeper.KeeperException failure) {
            say(failure.code(), failure.getResults().stream()
                .map(result -> ((org.apache.zookeeper.OpResult.ErrorResult) result).getErr()).collect(Collectors.toList()));
        }
        say(shape(a.checkExists().forPath("/tx/a")), shape(a.checkExists().forPath("/tx")));
        CountDownLatch done = new CountDownLatch(1);
        a.create().inBackground((client, event) -> {
            say(event.getType(), event.getResultCode(), event.getPath());
            done.countDown();
        }).forPath("/background");
        done.await(DEADLINE_S, TimeUnit.SECONDS);
    }

    private static void permissions(CuratorFramework a, CuratorFramework b) throws Exception {
        Id ann = new Id("digest", DigestAuthenticationProvider.generateDigest("ann:pw"));
        a.getZookeeperClient().getZooKeeper().addAuthInfo("digest", "ann:pw".getBytes());
        a.create().withACL(Collections.singletonList(new ACL(ZooDefs.Perms.ALL, ann))).forPath("/acl");
        say(a.getACL().forPath("/acl").get(0).getId().equals(ann), attempt(() -> b.getData().forPath("/acl")));
        say(attempt(() -> b.setACL().withACL(ZooDefs.Ids.OPEN_ACL_UNSAFE).forPath("/acl")));
        say(shape(a.setACL().withACL(List.of(new ACL(ZooDefs.Perms.READ, ZooDefs.Ids.ANYONE_ID_UNSAFE),
            new ACL(ZooDefs.Perms.ALL, ann))).forPath("/acl")));
        say(b.getACL().forPath("/acl").get(1).getId().getId(), attempt(() -> b.setData().forPath("/acl")));
        say(a.getZookeeperClient().getZooKeeper().whoAmI().stream()
            .map(info -> info.getAuthScheme() + ":" + info.getUser()).sorted().collect(Collectors.toList()));
    }

    private static void mutex(CuratorFramework a, CuratorFramework b) throws Exception {
        InterProcessMutex mine = new InterProcessMutex(a, "/mutex");
        InterProcessMutex theirs = new InterProcessMutex(b, "/mutex");
        mine.acquire();
        mine.acquire();
        say(mine.isOwnedByCurrentThread(), theirs.acquire(200, TimeUnit.MILLISECONDS), theirs.isAcquiredInThisProcess());
        Future<Boolean> waiting = threads.submit(() -> {
            boolean got = theirs.acquire(DEADLINE_S, TimeUnit.SECONDS);
            say("theirs:", got, plain(theirs.getParticipantNodes()));
            theirs.release();
            return got;
        });
        until("a second ticket", () -> b.getChildren().forPath("/mutex").size() == 2);
        mine.release();
        say(plain(mine.getParticipantNodes()), waiting.isDone());
        mine.release();
        say(get(waiting), attempt(() -> {
            mine.release();
            return "released";
        }));
        InterProcessMultiLock both = new InterProcessMultiLock(a, List.of("/mutex", "/mutex2"));
        say(both.acquire(DEADLINE_S, TimeUnit.SECONDS), both.isAcquiredInThisProcess());
        both.release();
    }

    private static void revocation(CuratorFramework a, CuratorFramework b) throws Exception {
        InterProcessMutex mine = new InterProcessMutex(a, "/revocable");
        CountDownLatch asked = new CountDownLatch(1);
        mine.makeRevocable(lock -> asked.countDown(), threads);
        mine.acquire();
        Revoker.attemptRevoke(b, mine.getParticipantNodes().iterator().next());
        say("asked:", asked.await(DEADLINE_S, TimeUnit.SECONDS));
        mine.release();
        say(new InterProcessMutex(b, "/revocable").acquire(DEADLINE_S, TimeUnit.SECONDS));
    }

    private static void readWriteLock(CuratorFramework a, CuratorFramework b) throws Exception {
        InterProcessReadWriteLock mine = new InterProcessReadWriteLock(a, "/rw");
        InterProcessReadWriteLock theirs = new InterProcessReadWriteLock(b, "/rw");
        say(mine.readLock().acquire(1, TimeUnit.SECONDS), theirs.readLock().acquire(1, TimeUnit.SECONDS),
            theirs.writeLock().acquire(200, TimeUnit.MILLISECONDS));
        Future<Boolean> writing = threads.submit(() -> {
            boolean got = theirs.writeLock().acquire(DEADLINE_S, TimeUnit.SECONDS);
            say("writing:", got, plain(theirs.writeLock().getParticipantNodes()));
            theirs.writeLock().release();
            return got;
        });
        until("a third ticket", () -> a.getChildren().forPath("/rw").size() == 3);
        say(plain(a.getChildren().forPath("/rw")), writing.isDone());
        mine.readLock().release();
        theirs.readLock().release();
        say(get(writing));
        mine.writeLock().acquire();
        say("downgrade:", mine.readLock().acquire(1, TimeUnit.SECONDS));
        mine.writeLock().release();
        say(theirs.readLock().acquire(1, TimeUnit.SECONDS));
        mine.readLock().release();
        theirs.readLock().release();
    }

    private static void semaphore(CuratorFramework a, CuratorFramework b) throws Exception {
        InterProcessSemaphoreV2 mine = new InterProcessSemaphoreV2(a, "/sem", 3);
        InterProcessSemaphoreV2 theirs = new InterProcessSemaphoreV2(b, "/sem", 3);
        Collection<Lease> two = mine.acquire(2, DEADLINE_S, TimeUnit.SECONDS);
        Lease third = theirs.acquire(DEADLINE_S, TimeUnit.SECONDS);
        say(two.size(), third != null, theirs.acquire(200, TimeUnit.MILLISECONDS), theirs.getParticipantNodes().size());
        Future<Lease> waiting = threads.submit(() -> theirs.acquire(DEADLINE_S, TimeUnit.SECONDS));
        until("a waiter", () -> !b.getChildren().forPath("/sem/locks").isEmpty());
        say(waiting.isDone());
        mine.returnAll(two);
        theirs.returnLease(get(waiting));
        theirs.returnLease(third);
        say(theirs.getParticipantNodes().size(), plain(a.getChildren().forPath("/sem")));
        SharedCount limit = new SharedCount(a, "/sem-limit", 1);
        limit.start();
        InterProcessSemaphoreV2 counted = new InterProcessSemaphoreV2(b, "/sem2", limit);
        Lease one = counted.acquire(DEADLINE_S, TimeUnit.SECONDS);
        Future<Lease> another = threads.submit(() -> counted.acquire(DEADLINE_S, TimeUnit.SECONDS));
        until("a waiter", () -> !b.getChildren().forPath("/sem2/locks").isEmpty());
        limit.setCount(2);
        say(one != null, get(another) != null);
        limit.close();
    }

    private static void latch(CuratorFramework a, CuratorFramework b) throws Exception {
        List<LeaderLatch> latches = new ArrayList<>();
        CuratorFramework[] clients = {a, b, connect()};
        for (int index = 0; index < 3; index++) {
            LeaderLatch latch = new LeaderLatch(clients[index], "/latch", "member " + index);
            latch.start();
            latches.add(latch);
            int count = index + 1;
            until("a member", () -> latch.getParticipants().size() == count);
        }
        say(latches.get(0).await(DEADLINE_S, TimeUnit.SECONDS), latches.get(1).hasLeadership(), latches.get(2).getLeader());
        say(latches.get(1).getParticipants());
        latches.get(0).close();
        say(latches.get(1).await(DEADLINE_S, TimeUnit.SECONDS), latches.get(2).hasLeadership());
        latches.get(1).close();
        say(latches.get(2).await(DEADLINE_S, TimeUnit.SECONDS), latches.get(2).getLeader());
        latches.get(2).close();
    }

    private static void curatorCache(CuratorFramework a, CuratorFramework b) throws Exception {
        b.create().creatingParentsIfNeeded().forPath("/cache/a/b", "1".getBytes());
        List<String> seen = Collections.synchronizedList(new ArrayList<>());
        CuratorCache cache = CuratorCache.build(a, "/cache");
        CountDownLatch ready = new CountDownLatch(1);
        cache.listenable().addListener(CuratorCacheListener.builder()
            .forAll((type, old, now) -> seen.add(type + " " + (now == null ? old : now).getPath()))
            .forInitialized(ready::countDown)
            .build());
        cache.start();
        say(ready.await(DEADLINE_S, TimeUnit.SECONDS));
        until("three znodes", () -> seen.size() == 3);
        say(new TreeSet<>(seen));
        seen.clear();
        b.create().forPath("/cache/new", "1".getBytes());
        until("a creation", () -> seen.size() == 1);
        b.setData().forPath("/cache/a/b", "2".getBytes());
        until("a change", () -> seen.size() == 2);
        b.create().forPath("/cache/a/b/deep", "1".getBytes());
        until("a creation below", () -> seen.size() == 3);
        b.delete().forPath("/cache/a/b/deep");
        until("a deletion below", () -> seen.size() == 4);
        b.delete().forPath("/cache/new");
        until("a deletion", () -> seen.size() == 5);
        say(seen, new String(cache.get("/cache/a/b").get().getData()));
        // What changes while a client gets itself a new session is found out afterwards.
        a.getZookeeperClient().getZooKeeper().getTestable().injectSessionExpiration();
        b.setData().forPath("/cache/a/b", "3".getBytes());
        until("what changed meanwhile", () -> "3".equals(new String(cache.get("/cache/a/b").get().getData())));
        say("found");
        cache.close();
    }

    @SuppressWarnings("deprecation")
    private static void treeCache(CuratorFramework a, CuratorFramework b) throws Exception {
        b.create().creatingParentsIfNeeded().forPath("/tree/a/b", "1".getBytes());
        List<String> seen = Collections.synchronizedList(new ArrayList<>());
        TreeCache cache = new TreeCache(a, "/tree");
        cache.getListenable().addListener((client, event) -> seen.add(
            event.getType() + (event.getData() == null ? "" : " " + event.getData().getPath())));
        cache.start();
        until("the tree", () -> seen.contains("INITIALIZED"));
        say(new TreeSet<>(seen));
        seen.clear();
        b.create().forPath("/tree/new");
        until("a creation", () -> seen.size() == 1);
        b.setData().forPath("/tree/a/b", "2".getBytes());
        until("a change", () -> seen.size() == 2);
        b.delete().forPath("/tree/new");
        until("a deletion", () -> seen.size() == 3);
        say(seen, cache.getCurrentChildren("/tree").keySet(), new String(cache.getCurrentData("/tree/a/b").getData()));
        cache.close();
    }

    private static void barriers(CuratorFramework a, CuratorFramework b) throws Exception {
        DistributedBarrier barrier = new DistributedBarrier(a, "/barrier");
        barrier.setBarrier();
        Future<Boolean> waiting = threads.submit(() ->
            new DistributedBarrier(b, "/barrier").waitOnBarrier(DEADLINE_S, TimeUnit.SECONDS));
        say(waiting.isDone());
        barrier.removeBarrier();
        say(get(waiting));
        List<Future<Boolean>> members = new ArrayList<>();
        for (CuratorFramework client : List.of(a, b)) {
            members.add(threads.submit(() -> {
                DistributedDoubleBarrier doubled = new DistributedDoubleBarrier(client, "/double", 2);
                return doubled.enter(DEADLINE_S, TimeUnit.SECONDS) && doubled.leave(DEADLINE_S, TimeUnit.SECONDS);
            }));
        }
        for (Future<Boolean> member : members) say(get(member));
    }

    private static void counters(CuratorFramework a, CuratorFramework b) throws Exception {
        List<Future<?>> workers = new ArrayList<>();
        for (CuratorFramework client : List.of(a, b)) {
            workers.add(threads.submit(() -> {
                DistributedAtomicLong counter = new DistributedAtomicLong(client, "/counter", new ExponentialBackoffRetry(5, 20));
                for (int count = 0; count < 20; ) if (counter.increment().succeeded()) count++;
                return null;
            }));
        }
        for (Future<?> worker : workers) get(worker);
        say(new DistributedAtomicLong(a, "/counter", new ExponentialBackoffRetry(5, 20)).get().postValue());
    }

    private static void lostSession(CuratorFramework a, CuratorFramework b) throws Exception {
        CuratorFramework victim = connect();
        List<ConnectionState> states = Collections.synchronizedList(new ArrayList<>());
        victim.getConnectionStateListenable().addListener((client, state) -> states.add(state));
        PersistentNode node = new PersistentNode(victim, CreateMode.EPHEMERAL, false, "/node", "here".getBytes());
        node.start();
        say(node.waitForInitialCreate(DEADLINE_S, TimeUnit.SECONDS), shape(b.checkExists().forPath("/node")));
        long owner = b.checkExists().forPath("/node").getEphemeralOwner();
        ZooKeeper zooKeeper = victim.getZookeeperClient().getZooKeeper();
        // Whoever has a session's id and password can end it.
        CountDownLatch attached = new CountDownLatch(1);
        ZooKeeper thief = new ZooKeeper(servers, 10_000, event -> {
            if (event.getState() == org.apache.zookeeper.Watcher.Event.KeeperState.SyncConnected) attached.countDown();
        }, zooKeeper.getSessionId(), zooKeeper.getSessionPasswd());
        say(attached.await(DEADLINE_S, TimeUnit.SECONDS));
        thief.close();
        until("a new session", () -> states.contains(ConnectionState.LOST)
            && states.get(states.size() - 1) == ConnectionState.RECONNECTED);
        until("the znode of the new session", () -> {
            Stat stat = b.checkExists().forPath("/node");
            return stat != null && stat.getEphemeralOwner() != owner;
        });
        say("again:", new String(b.getData().forPath("/node")));
        node.close();
    }
}
