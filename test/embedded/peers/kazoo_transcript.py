"""
Stock kazoo does a bit of everything on an empty chroot and prints what came of it: kazoo_transcript.py CONNECT_STRING.
Nothing that may differ between two good servers is printed: no zxids, no times, no session ids.
"""
import re
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.protocol.states import KazooState
from kazoo.recipe.barrier import Barrier, DoubleBarrier
from kazoo.recipe.cache import TreeCache
from kazoo.recipe.counter import Counter
from kazoo.recipe.party import Party
from kazoo.recipe.queue import LockingQueue, Queue
from kazoo.recipe.watchers import ChildrenWatch, DataWatch
from kazoo.security import make_acl, make_digest_acl, make_digest_acl_credential

servers = sys.argv[1]
DEADLINE = 10
opened = []


def say(*words):
    print(*words, flush=True)


def connect(**options):
    client = KazooClient(hosts=servers, timeout=10, **options)
    client.start(timeout=DEADLINE)
    opened.append(client)
    return client


def attempt(run, *args, **options):
    try:
        return run(*args, **options)
    except (KazooException, ValueError, TypeError) as error:
        return type(error).__name__


def wait_for(condition, what):
    end = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("waited in vain for " + what)
        time.sleep(0.005)


def shape(stat):
    return "v%d c%d a%d len%d kids%d %s" % (
        stat.version, stat.cversion, stat.aversion, stat.dataLength, stat.numChildren,
        "ephemeral" if stat.ephemeralOwner else "persistent",
    )


def in_thread(run):
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def crud(a, b):
    say(a.create("/crud", b"one"), a.create("/crud/kid", makepath=False))
    say(attempt(a.create, "/crud"), attempt(a.create, "/none/kid"), attempt(a.create, "/crud/", b""))
    say(a.create("/deep/er/still", b"x", makepath=True), a.ensure_path("/deep/er/still/yet"))
    data, stat = b.get("/crud")
    say(data, shape(stat))
    say(shape(b.set("/crud", b"two")), attempt(b.set, "/crud", b"", version=0), shape(b.set("/crud", b"", version=1)))
    say(attempt(b.get, "/nothing"), b.exists("/nothing"), shape(b.exists("/crud")))
    say(sorted(b.get_children("/crud")), attempt(b.get_children, "/nothing"))
    children, stat = b.get_children("/deep", include_data=True)
    say(children, shape(stat))
    say(attempt(a.delete, "/crud"), attempt(a.delete, "/crud/kid", version=7), a.delete("/crud/kid", version=0))
    say(a.delete("/deep", recursive=True), b.exists("/deep"))
    made, stat = a.create("/with-stat", b"123", include_data=True)
    say(made, shape(stat))
    say([a.create("/seq-", sequence=True) for _ in range(3)])
    say(a.create("/eph", ephemeral=True), shape(b.exists("/eph")), attempt(b.create, "/eph/kid"))
    say(a.sync("/crud"), a.create("/umlaut-\u00e4", "\u00e4".encode()), b.get("/umlaut-\u00e4")[0])
    say(b.get("/null")[0] if b.create("/null", b"") else None)


def permissions(a, b):
    credential = make_digest_acl_credential("ann", "pw")
    a.add_auth("digest", "ann:pw")
    a.create("/private", b"x", acl=[make_digest_acl("ann", "pw", all=True)])
    say(a.get_acls("/private")[0] == [make_acl("digest", credential, all=True)], attempt(b.get, "/private"))
    say(attempt(b.set, "/private", b""), attempt(b.set_acls, "/private", []), attempt(b.get_acls, "/private"))
    say(shape(a.set_acls("/private", [make_acl("world", "anyone", read=True), make_acl("digest", credential, all=True)])))
    say(b.get("/private")[0], [acl.id.id for acl in b.get_acls("/private")[0]], attempt(b.set, "/private", b""))
    b.add_auth("digest", "ann:pw")
    say(shape(b.set("/private", b"y")))
    say(attempt(a.set_acls, "/private", [make_acl("nosuch", "x", all=True)]))
    # kazoo sends the empty id of `auth` as null.
    say(attempt(a.create, "/own", b"x", acl=[make_acl("auth", "", all=True)]), attempt(a.get_acls, "/own")[0])
    say(attempt(connect().create, "/nobodys", b"x", acl=[make_acl("auth", "", all=True)]))


def watches(a, b):
    heard = []
    b.create("/watched", b"")
    a.get("/watched", watch=lambda event: heard.append("get %s %s" % (event.type, event.path)))
    a.get_children("/watched", watch=lambda event: heard.append("children %s %s" % (event.type, event.path)))
    a.exists("/coming", watch=lambda event: heard.append("exists %s %s" % (event.type, event.path)))
    b.set("/watched", b"1")
    b.set("/watched", b"2")
    b.create("/watched/kid")
    b.create("/watched/kid2")
    b.create("/coming")
    wait_for(lambda: len(heard) >= 3, "three events")
    a.exists("/coming", watch=lambda event: heard.append("exists %s %s" % (event.type, event.path)))
    b.delete("/coming")
    wait_for(lambda: len(heard) >= 4, "a fourth event")
    a.sync("/")
    say("\n".join(heard))


def data_watch(a, b):
    seen = []
    DataWatch(a, "/data-watched", lambda data, stat, event: seen.append(
        (data, stat and stat.version, event and event.type)) and None)
    for count, change in enumerate([
        lambda: b.create("/data-watched", b"0"), lambda: b.set("/data-watched", b"1"),
        lambda: b.set("/data-watched", b"2"), lambda: b.delete("/data-watched"),
        lambda: b.create("/data-watched", b"again"),
    ]):
        change()
        wait_for(lambda: len(seen) == count + 2, "a look at the data")
    say(seen)


def children_watch(a, b):
    seen = []
    b.create("/family")
    ChildrenWatch(a, "/family", lambda children: seen.append(sorted(children)) and None)
    for count, change in enumerate([
        lambda: b.create("/family/x"), lambda: b.create("/family/y"), lambda: b.delete("/family/x"),
    ]):
        change()
        wait_for(lambda: len(seen) == count + 2, "a look at the children")
    say(seen)


def transactions(a, b):
    transaction = a.transaction()
    transaction.create("/tx", b"1")
    transaction.create("/tx/seq-", sequence=True)
    transaction.check("/tx", version=0)
    transaction.set_data("/tx", b"22", version=0)
    transaction.create("/tx/gone")
    transaction.delete("/tx/gone")
    results = transaction.commit()
    say([shape(result) if hasattr(result, "cversion") else result for result in results])
    transaction = b.transaction()
    transaction.create("/tx/a")
    transaction.check("/tx", version=9)
    transaction.delete("/tx/b")
    say([repr(result).split("(")[0] for result in transaction.commit()], b.exists("/tx/a"))
    with a.transaction() as transaction:
        transaction.create("/tx/in-with")
    say(sorted(b.get_children("/tx")))


def locks(a, b):
    mine, theirs = a.Lock("/lock", "ann"), b.Lock("/lock", "bob")
    say(mine.acquire(), mine.is_acquired, theirs.acquire(blocking=False), theirs.is_acquired)
    say(attempt(theirs.acquire, timeout=0.2))
    got = threading.Event()

    def wait():
        with theirs:
            got.set()

    thread = in_thread(wait)
    wait_for(lambda: len(a.get_children("/lock")) == 2, "a second ticket")
    say(mine.contenders(), got.is_set(), mine.release())
    thread.join(DEADLINE)
    wait_for(lambda: a.get_children("/lock") == [], "an empty queue")
    say(got.is_set(), mine.contenders(), re.sub("[0-9a-f]{32}", "<uuid>", str(mine.acquire())), mine.release())


def read_write_locks(a, b):
    readers, writer = [a.ReadLock("/rw", "r1"), b.ReadLock("/rw", "r2")], b.WriteLock("/rw", "w")
    say([reader.acquire(timeout=DEADLINE) for reader in readers], attempt(writer.acquire, timeout=0.2))
    thread = in_thread(lambda: writer.acquire())
    wait_for(lambda: len(a.get_children("/rw")) == 3, "a third ticket")
    late = a.ReadLock("/rw", "r3")
    say(late.acquire(blocking=False), [reader.release() for reader in readers])
    thread.join(DEADLINE)
    say(writer.is_acquired, late.acquire(blocking=False), writer.release(), late.acquire(timeout=DEADLINE), late.release())


def semaphores(a, b):
    first, second, third = a.Semaphore("/sem", "one", max_leases=2), b.Semaphore("/sem", "two", max_leases=2), b.Semaphore("/sem", "three", max_leases=2)
    say(first.acquire(), second.acquire(), third.acquire(blocking=False), sorted(first.lease_holders()))
    thread = in_thread(lambda: third.acquire())
    time.sleep(0.05)
    say(third.is_acquired, first.release())
    thread.join(DEADLINE)
    say(third.is_acquired, sorted(a.Semaphore("/sem", max_leases=2).lease_holders()))
    say(attempt(a.Semaphore("/sem", max_leases=5).acquire), second.release(), third.release())


def elections(a, b):
    led, release = [], threading.Event()

    def lead(name):
        led.append(name)
        if name == "ann":
            release.wait(DEADLINE)

    ann, bob = a.Election("/election", "ann"), b.Election("/election", "bob")
    threads = [in_thread(lambda: ann.run(lead, "ann"))]
    wait_for(lambda: led == ["ann"], "a leader")
    threads.append(in_thread(lambda: bob.run(lead, "bob")))
    wait_for(lambda: ann.contenders() == ["ann", "bob"], "two contenders")
    say(led, ann.contenders())
    release.set()
    for thread in threads:
        thread.join(DEADLINE)
    say(led, ann.contenders())


def queues(a, b):
    queue, other = Queue(a, "/queue"), Queue(b, "/queue")
    for value, priority in [(b"later", 200), (b"plain", 100), (b"first", 1), (b"plain too", 100)]:
        queue.put(value, priority)
    say(len(other), [other.get() for _ in range(5)])
    locking, other = LockingQueue(a, "/locking-queue"), LockingQueue(b, "/locking-queue")
    say(locking.put(b"a"), locking.put_all([b"b", b"c"], 10), len(locking))
    say(locking.get(), locking.holds_lock(), other.get(timeout=DEADLINE), locking.consume(), locking.consume(), other.consume())
    say(locking.get(timeout=DEADLINE), locking.consume(), other.get(timeout=0.1), len(other))


def barriers(a, b):
    barrier = Barrier(a, "/barrier")
    barrier.create()
    say(Barrier(b, "/barrier").wait(0.1), barrier.remove(), Barrier(b, "/barrier").wait(DEADLINE), barrier.remove())
    entered, left = [], []

    def take_part(client, name):
        double = DoubleBarrier(client, "/double", 2, name)
        double.enter()
        entered.append(name)
        double.leave()
        left.append(name)

    threads = [in_thread(lambda: take_part(a, "ann"))]
    wait_for(lambda: a.exists("/double") and len(a.get_children("/double")) == 1, "a participant")
    say(entered)
    threads.append(in_thread(lambda: take_part(b, "bob")))
    for thread in threads:
        thread.join(DEADLINE)
    say(sorted(entered), sorted(left), a.get_children("/double"))


def others(a, b):
    counters = [Counter(a, "/counter"), Counter(b, "/counter")]
    for counter in counters * 3:
        counter += 2
    say(counters[0].value)
    party = Party(a, "/party", "ann")
    party.join()
    Party(b, "/party", "bob").join()
    say(sorted(party), len(party), party.leave(), sorted(party))
    seen = []
    b.ensure_path("/tree/a/b")
    cache = TreeCache(a, "/tree")
    cache.listen(lambda event: seen.append((event.event_type, getattr(event.event_data, "path", None))))
    cache.start()
    wait_for(lambda: len(seen) == 4, "the tree")
    say(sorted(map(str, seen)), cache.get_children("/tree/a"))
    b.set("/tree/a/b", b"new")
    wait_for(lambda: cache.get_data("/tree/a/b").data == b"new", "the change in the tree")
    b.delete("/tree/a/b")
    wait_for(lambda: cache.get_data("/tree/a/b") is None, "the deletion in the tree")
    cache.close()


def states(a, b):
    heard = []
    victim = connect()
    victim.add_listener(lambda state: heard.append(state) and None)
    victim.create("/states-eph", ephemeral=True)
    seen = []
    DataWatch(victim, "/crud", lambda data, stat: seen.append(data) and None)
    session = victim.client_id
    victim._connection._socket.shutdown(2)
    wait_for(lambda: heard == [KazooState.SUSPENDED, KazooState.CONNECTED], "a reconnect")
    say(heard, victim.client_id[0] == session[0], shape(b.exists("/states-eph")))
    b.set("/crud", b"after the reconnect")
    wait_for(lambda: seen[-1] == b"after the reconnect", "the data watch")
    # The session ends elsewhere: whoever has its id and password can end it.
    thief = KazooClient(hosts=servers, client_id=session, timeout=10)
    thief.start(timeout=DEADLINE)
    thief.stop()
    wait_for(lambda: KazooState.LOST in heard and heard[-1] == KazooState.CONNECTED, "a new session")
    say(victim.client_id[0] != session[0], b.exists("/states-eph"))
    b.set("/crud", b"in the new session")
    wait_for(lambda: seen[-1] == b"in the new session", "the data watch in the new session")
    say(a.command(b"ruok"), a.server_version()[:2], len(a.command(b"srvr").splitlines()))


first, second = connect(), connect()
for part in [crud, permissions, watches, data_watch, children_watch, transactions, locks, read_write_locks, semaphores,
             elections, queues, barriers, others, states]:
    say("#", part.__name__)
    part(first, second)
for client in opened:
    client.stop()
    client.close()
last = connect()
say("# end", last.exists("/eph"), sorted(last.get_children("/")))
last.stop()
last.close()
