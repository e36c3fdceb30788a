/**
 * Where zksh does not write what zkCli writes, line by line, and why. Everything that is not here
 * is compared byte for byte. Exit codes are always our own.
 */
interface Difference {
  readonly line: string;
  readonly why: string;
  /** What zksh writes instead; what is left out is as in zkCli. */
  readonly stdout?: string | RegExp;
  readonly stderr?: string | RegExp;
}

const IGNORES_VERSION = "zkCli ignores a version given in the old way and writes all the same";
const DIES = "zkCli dies of an uncaught exception";
const WEAKENS_ACL = "zkCli skips what it cannot read of an ACL and goes on with the rest";
const OTHER_VERSION = "a command of zkCli before 3.6";
const OWN_COMMAND = "a command of our own";
const NO_PATH = "zkCli does not check the path";
const ON_STDOUT = "zkCli says so on stdout, among the results, and ends with 0";
const OFFLINE = "needs no server";
const NOTE_FIRST = "the note on the old form comes with an answer, not with an error";
const REFUSED = "zksh keeps its hands off what ZooKeeper itself needs";

const NOT_CONNECTED = { why: ON_STDOUT, stdout: "", stderr: "Not connected\n" };
const OUR_VERSION = /^ZooKeeper CLI version: zksh-\d+\.\d+\.\d+\n$/;

export const INTENDED_DIFFERENCES: Readonly<Record<string, readonly Difference[]>> = {
  znodes: [
    {
      line: "ls -? /a",
      why: "hidden, and `help ls` says more",
      stdout: "",
      stderr: "org.apache.commons.cli.UnrecognizedOptionException: Unrecognized option: -?\n",
    },
    {
      line: "get -w /a extra",
      why: "zkCli loses the path when an option stands before it",
      stdout: "null\n",
      stderr: "'get path [watch]' has been deprecated. Please use 'get [-s] [-w] path' instead.\n",
    },
    { line: "exists /c", why: OWN_COMMAND, stdout: "true\n", stderr: "" },
    { line: "version", why: "another program", stdout: OUR_VERSION },
    { line: "set /v other 99", why: IGNORES_VERSION, stderr: "version No is not valid : /v\n" },
    { line: "get /v", why: IGNORES_VERSION, stdout: "guarded\n" },
    { line: "delete /v 99", why: IGNORES_VERSION, stderr: "version No is not valid : /v\n" },
    { line: "get -- /v", why: IGNORES_VERSION, stdout: "guarded\n", stderr: "" },
    { line: "set -v abc /c x", why: DIES, stderr: "bad version 'abc'\n" },
  ],
  deleteall: [
    {
      line: "deleteall /locked",
      why: "zkCli gives no reason, often not even this line, and ends with 0",
      stderr: "Insufficient permission : /locked/a/b\n",
    },
    { line: "deleteall /", why: REFUSED, stderr: "deleteall refuses /\n" },
    { line: "rmr /u", why: OTHER_VERSION, stderr: "Node does not exist: /u\n" },
    {
      line: "ls2 /t",
      why: OTHER_VERSION,
      stdout: /^\[\]\ncZxid = /,
      stderr: "'ls2' has been deprecated. Please use 'ls [-s] path' instead.\n",
    },
    {
      line: "connect 127.0.0.1:abc",
      why: DIES,
      stderr: "bad port 'abc' in server list: '127.0.0.1:abc'\n",
    },
  ],
  words: [
    { line: "get /p; get /p", why: NOTE_FIRST, stderr: "Node does not exist: /p;\n" },
    { line: "help", why: OWN_COMMAND, stdout: /^zksh /, stderr: "" },
    { line: "help get", why: OWN_COMMAND, stdout: /^get: /, stderr: "" },
    { line: "?", why: OWN_COMMAND, stdout: /^zksh /, stderr: "" },
    { line: "redo abc", why: DIES, stderr: "bad line number 'abc'\n" },
  ],
  options: [
    { line: "get - /o", why: NOTE_FIRST, stderr: "Path must start with / character\n" },
    {
      line: "set -b /o x",
      why: "zkCli has it from 3.8.5 on",
      stderr: "the data is not valid base64\n",
    },
    {
      line: "create -s //",
      why: "zkCli names a path that nobody wrote: //1",
      stderr: 'Invalid path string "//" caused by empty node name specified @1\n',
    },
    { line: "delete -v abc /o", why: DIES, stderr: "bad version 'abc'\n" },
  ],
  acl: [
    {
      line: "setAcl /v world:anyone:r 99",
      why: IGNORES_VERSION,
      stderr: "version No is not valid : /v\n",
    },
    { line: "getAcl /v", why: IGNORES_VERSION, stdout: "'world,'anyone\n: cdrwa\n" },
    {
      line: "create /mixed x world:anyone:r,bogus",
      why: WEAKENS_ACL,
      stderr:
        "bogus does not have the form scheme:id:perm\nKeeperErrorCode = InvalidACL\nAcl is not valid : null\n",
    },
    {
      line: "getAcl /mixed",
      why: WEAKENS_ACL,
      stdout: "",
      stderr: "Node does not exist: /mixed\n",
    },
    {
      line: "create /typo x world:anyone:cdrwaz",
      why: WEAKENS_ACL,
      stderr: "Unknown perm type: z\n",
    },
    { line: "getAcl /typo", why: WEAKENS_ACL, stdout: "", stderr: "Node does not exist: /typo\n" },
    { line: "create /none x world:anyone:", why: WEAKENS_ACL, stderr: "no permissions in ACL\n" },
    { line: "getAcl /none", why: WEAKENS_ACL, stderr: "Node does not exist: /none\n" },
    {
      line: "addauth nosuchscheme x",
      why: "zkCli says nothing here, and `Not connected` to every line from here on",
      stdout: "",
      stderr: "KeeperErrorCode = AuthFailed for scheme nosuchscheme\n",
    },
  ],
  watches: [{ line: "addWatch bad", why: DIES, stderr: "Path must start with / character\n" }],
  quota: [
    { line: "listquota q", why: NO_PATH, stderr: "Path must start with / character\n" },
    {
      line: "listquota /",
      why: NO_PATH,
      stderr: "absolute path is /zookeeper/quota/zookeeper_limits\nquota for / does not exist.\n",
    },
    { line: "delquota q", why: NO_PATH, stdout: "", stderr: "Path must start with / character\n" },
    {
      line: "deleteall /zookeeper/quota/q",
      why: REFUSED,
      stderr: "deleteall refuses /zookeeper/quota/q\n",
    },
    {
      line: "reconfig -file /nope/nope",
      why: "zkCli writes the name twice",
      stderr: "Error processing /nope/nope (No such file or directory)\n",
    },
    { line: "setAcl -v abc /q world:anyone:r", why: DIES, stderr: "bad version 'abc'\n" },
  ],
  closed: [
    { line: "get /c -s", ...NOT_CONNECTED },
    { line: "ls /", ...NOT_CONNECTED },
    { line: "whoami", ...NOT_CONNECTED },
    { line: "version", why: OFFLINE, stdout: OUR_VERSION },
    { line: "get", why: ON_STDOUT, stdout: "", stderr: "get [-s] [-w] path\n" },
    { line: "history", why: OFFLINE, stdout: /^(?:\d+ - .*\n){11}$/ },
    { line: "close twice", why: OFFLINE, stdout: "" },
  ],
};
