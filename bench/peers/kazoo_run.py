"""What one writes with kazoo to run a command under a lock, without any guard: kazoo_run.py SERVERS PATH CMD ARG..."""
import subprocess
import sys

from kazoo.client import KazooClient

servers, path, *command = sys.argv[1:]
client = KazooClient(hosts=servers)
client.start()
with client.Lock(path, "bench"):
    code = subprocess.call(command)
client.stop()
client.close()
sys.exit(code)
