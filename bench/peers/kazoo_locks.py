"""kazoo's Lock, as its documentation uses it: kazoo_locks.py SERVERS PATH, then `cycles N`, `acquire`, `release` on stdin."""
import json
import sys
from time import monotonic_ns

from kazoo.client import KazooClient

servers, path = sys.argv[1:]
client = KazooClient(hosts=servers)
client.start()
lock = client.Lock(path, "bench")


def now():
    return monotonic_ns() / 1000


def cycles(count):
    acquires = []
    begun = now()
    for _ in range(count):
        at = now()
        lock.acquire()
        acquires.append(now() - at)
        lock.release()
    return {"acquires": acquires, "seconds": (now() - begun) / 1e6}


def acquire():
    lock.acquire()
    return {"at": now()}


def release():
    at = now()
    lock.release()
    return {"at": at}


for line in iter(sys.stdin.readline, ""):
    word, *numbers = line.split()
    print(json.dumps(globals()[word](*map(int, numbers))), flush=True)
client.stop()
client.close()
