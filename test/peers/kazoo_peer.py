"""
Stock kazoo as a contender: kazoo_peer.py SERVERS PATH LOG LEAST_MS MOST_MS NAME=RECIPE... with the recipes lock, read,
write, semaphore:N. Each loops acquire, write to the log, release, until stdin ends or SIGTERM comes.
"""
import os
import random
import signal
import sys
import threading
import traceback

from kazoo.client import KazooClient

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from exclusion_log import ExclusionLog  # noqa: E402

servers, path, logs, least_ms, most_ms = sys.argv[1:6]
log = ExclusionLog(logs.split(","))
over = threading.Event()


def make(client, name, recipe):
    kind, _, limit = recipe.partition(":")
    if kind == "lock":
        return "exclusive", client.Lock(path, name)
    if kind == "read":
        return "read", client.ReadLock(path, name)
    if kind == "write":
        return "write", client.WriteLock(path, name)
    if kind == "semaphore":
        return "permit", client.Semaphore(path, name, max_leases=int(limit))
    raise ValueError("no such recipe: " + recipe)


def contend(name, recipe):
    count = 0
    client = KazooClient(hosts=servers, timeout=10)
    try:
        client.start()
        kind, lock = make(client, name, recipe)
        while not over.is_set():
            with lock:
                count += 1
                ticket = "-" if kind == "permit" else str(int(lock.node[-10:]))
                seconds = random.randint(int(least_ms), int(most_ms)) / 1000
                log.work("%s#%d" % (name, count), kind, "-", ticket, seconds)
    except Exception as error:
        traceback.print_exc()
        print("%s failed: %r" % (name, error), flush=True)
    finally:
        client.stop()
        client.close()
    print(name, count, flush=True)


threads = [threading.Thread(target=contend, args=argument.split("=")) for argument in sys.argv[6:]]
for thread in threads:
    thread.start()
print("ready", flush=True)


def stop(*_):
    raise SystemExit


signal.signal(signal.SIGTERM, stop)
try:
    sys.stdin.buffer.read()
finally:
    over.set()
    for thread in threads:
        thread.join()
