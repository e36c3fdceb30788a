"""What one writes with kazoo to count the znodes below one: kazoo_count.py SERVERS PATH."""
import sys

from kazoo.client import KazooClient


def count(path):
    children = client.get_children(path)
    return len(children) + sum(count(path + "/" + child) for child in children)


client = KazooClient(hosts=sys.argv[1])
client.start()
print(count(sys.argv[2]))
client.stop()
client.close()
