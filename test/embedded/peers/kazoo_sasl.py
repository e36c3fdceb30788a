"""Logs in by SASL DIGEST-MD5 with kazoo, and prints what an ACL for a user does."""
import sys
from kazoo.client import KazooClient
from kazoo.exceptions import NoAuthError
from kazoo.security import make_acl

address, path = sys.argv[1:3]


def client(name=None, password=None):
    options = {"mechanism": "DIGEST-MD5", "username": name, "password": password}
    made = KazooClient(hosts=address, sasl_options=options if name else None)
    made.start(timeout=20)
    return made


bob = client("bob", "bobsecret")
print(bob.create(path, b"for bob", acl=[make_acl("sasl", "bob", all=True)]))
print(bob.get(path)[0])
bob.stop()
other = client()
try:
    print(other.get(path)[0])
except NoAuthError:
    print("NoAuth")
other.stop()
again = client("bob", "bobsecret")
again.delete(path)
print("end")
again.stop()
