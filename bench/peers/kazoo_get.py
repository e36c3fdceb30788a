"""What one writes with kazoo to read a znode: kazoo_get.py SERVERS PATH."""
import sys

from kazoo.client import KazooClient

client = KazooClient(hosts=sys.argv[1])
client.start()
data, _ = client.get(sys.argv[2])
sys.stdout.buffer.write(data + b"\n")
client.stop()
client.close()
