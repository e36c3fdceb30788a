"""
What runs under the lock: work.py LOG[,LOG] NAME KIND SECONDS [stubborn]. Takes token and ticket from the environment that
zksh gives to its child. A stubborn one does not end on SIGTERM.
"""
import os
import signal
import sys

# -I leaves the script's own folder out.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from exclusion_log import ExclusionLog  # noqa: E402

logs, name, kind, seconds = sys.argv[1:5]
if "stubborn" in sys.argv[5:]:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
token = os.environ.get("ZK_LOCK_TOKEN", "-")
number = os.environ.get("ZK_LOCK_NODE", "-")[-10:]
ticket = str(int(number)) if number.isdigit() and kind != "permit" else "-"
ExclusionLog(logs.split(",")).work("%s#%d" % (name, os.getpid()), kind, token, ticket, float(seconds))
