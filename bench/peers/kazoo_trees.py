"""What one writes with kazoo for the daily work on a tree.

kazoo_trees.py [--async] SERVERS find|tree|du|grep|diff|export|import|cp|mv|deleteall ARG...

Without --async one request after the other, as in a script of a few lines. With it up to 1,000
requests are under way, as in a script by somebody who needs it fast.
"""
import base64
import collections
import json
import sys
import time

from kazoo.client import KazooClient
from kazoo.security import ACL, Id

UNDER_WAY = 1000
HOUR_MS = 3600 * 1000


def join(path, name):
    return (path if path != "/" else "") + "/" + name


class Simple:
    """One request after the other."""

    def __init__(self, client):
        self.client = client

    def walk(self, path):
        """Path and stat of each znode: the reply with the children has the stat too."""
        children, stat = self.client.get_children(path, include_data=True)
        yield path, stat
        for child in children:
            yield from self.walk(join(path, child))

    def paths(self, path):
        yield path
        for child in self.client.get_children(path):
            yield from self.paths(join(path, child))

    def with_data(self, path):
        for each in self.paths(path):
            yield (each, *self.client.get(each))

    def with_acls(self, path):
        for each in self.paths(path):
            yield (each, *self.client.get(each), self.client.get_acls(each)[0])

    def create_all(self, znodes):
        for znode in znodes:
            self.client.create(*znode)

    def delete_all(self, paths):
        for path in paths:
            self.client.delete(path)


class Pipelined:
    """Up to UNDER_WAY requests under way; the order of a walk is by level."""

    def __init__(self, client):
        self.client = client

    def _each(self, items, ask):
        waiting = collections.deque()
        for item in items:
            waiting.append((item, ask(item)))
            if len(waiting) >= UNDER_WAY:
                done, answer = waiting.popleft()
                yield done, answer.get()
        for done, answer in waiting:
            yield done, answer.get()

    def walk(self, path):
        level = [path]
        while level:
            below = []
            ask = lambda each: self.client.get_children_async(each, include_data=True)
            for each, (children, stat) in self._each(level, ask):
                yield each, stat
                below += [join(each, child) for child in children]
            level = below

    def paths(self, path):
        return (each for each, _ in self.walk(path))

    def with_data(self, path):
        for each, (data, stat) in self._each(self.paths(path), self.client.get_async):
            yield each, data, stat

    def with_acls(self, path):
        ask = self.client.get_acls_async
        for (each, data, stat), (acls, _) in self._each(
            self.with_data(path), lambda znode: ask(znode[0])
        ):
            yield each, data, stat, acls

    def create_all(self, znodes):
        # A session's requests are answered in order, so that parents are there in time.
        for _ in self._each(znodes, lambda znode: self.client.create_async(*znode)):
            pass

    def delete_all(self, paths):
        for _ in self._each(paths, self.client.delete_async):
            pass


def find(trees, root):
    """What was changed within an hour."""
    since = time.time() * 1000 - HOUR_MS
    for path, stat in trees.walk(root):
        if stat.mtime > since:
            print(path)


def du(trees, root):
    sizes = {}
    for path, stat in trees.walk(root):
        sizes[path] = stat.dataLength
    total = collections.Counter()
    for path, size in sizes.items():
        while True:
            total[path] += size
            if path == root:
                break
            path = path.rpartition("/")[0]
    for path, size in total.items():
        print(size, path)


def tree(trees, root):
    """Indented, with the sizes: siblings by name."""
    sizes = {path: stat.dataLength for path, stat in trees.walk(root)}
    above = root.count("/")
    for path in sorted(sizes, key=lambda each: each.split("/")):
        print("    " * (path.count("/") - above), path.rpartition("/")[2], sizes[path])


def diff(trees, one, other):
    left = {path[len(one) :]: data for path, data, _ in trees.with_data(one)}
    right = {path[len(other) :]: data for path, data, _ in trees.with_data(other)}
    for path in sorted(left.keys() | right.keys()):
        if left.get(path) != right.get(path):
            print(path)


def grep(trees, root, text):
    wanted = text.encode()
    for path, data, _ in trees.with_data(root):
        for number, line in enumerate((data or b"").splitlines(), 1):
            if wanted in line:
                print(f"{path}:{number}:{line.decode()}")


def export(trees, root, file, *without_acls):
    with open(file, "w") as lines:
        found = trees.with_data(root) if without_acls else trees.with_acls(root)
        for path, data, _, *acls in found:
            fields = {"path": path, "data": base64.b64encode(data or b"").decode()}
            if acls:
                fields["acl"] = [[acl.perms, acl.id.scheme, acl.id.id] for acl in acls[0]]
            print(json.dumps(fields), file=lines)


def import_(trees, file, source, target):
    def znodes():
        with open(file) as lines:
            for line in lines:
                fields = json.loads(line)
                path = target + fields["path"][len(source) :]
                acl = [ACL(perms, Id(*identity)) for perms, *identity in fields["acl"]]
                yield path, base64.b64decode(fields["data"]), acl

    trees.create_all(znodes())


def cp(trees, source, target):
    found = trees.with_data(source)
    trees.create_all((target + path[len(source) :], data) for path, data, _ in found)


def mv(trees, source, target):
    """The copy is not compared with the source."""
    found = list(trees.with_acls(source))
    trees.create_all((target + path[len(source) :], data, acls) for path, data, _, acls in found)
    trees.delete_all(reversed([path for path, *_ in found]))


def deleteall(trees, root):
    trees.delete_all(reversed(list(trees.paths(root))))


words = sys.argv[1:]
is_async = words[0] == "--async"
servers, command, *args = words[1:] if is_async else words
client = KazooClient(hosts=servers)
client.start()
commands = {
    "find": find,
    "tree": tree,
    "du": du,
    "grep": grep,
    "diff": diff,
    "export": export,
    "import": import_,
    "cp": cp,
    "mv": mv,
    "deleteall": deleteall,
}
commands[command]((Pipelined if is_async else Simple)(client), *args)
client.stop()
