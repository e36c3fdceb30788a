"""
A holder as kazoo's documentation shows it: kazoo_holder.py SERVERS PATH LOG NAME TIMEOUT_S WORK_S. Writes to the log for as
long as lock.is_acquired is true and the work lasts. Prints `state NANOSECONDS STATE` when kazoo tells listeners about the
connection, which the documentation's example of a lock does without.
"""
import os
import sys
import time

from kazoo.client import KazooClient

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../peers"))
from exclusion_log import BEAT_S, ExclusionLog  # noqa: E402

servers, path, file, name, timeout_s, work_s = sys.argv[1:7]
log = ExclusionLog([file])
client = KazooClient(hosts=servers, timeout=float(timeout_s))
client.add_listener(lambda state: print("state", time.monotonic_ns(), state, flush=True))
client.start()
lock = client.Lock(path, name)
with lock:
    log._write("begin", "%s#1 exclusive - -" % name)
    until = time.monotonic() + float(work_s)
    while lock.is_acquired and time.monotonic() < until:
        log._write("beat", name + "#1")
        time.sleep(BEAT_S)
    log._write("end", name + "#1")
    # The release may need a server that cannot be reached; what is measured is over.
    os._exit(0)
