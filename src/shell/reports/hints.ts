/**
 * What to do next, by command and reason, where the error itself does not say. `*` stands for every
 * other command.
 */
const HINTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  create: {
    "node-exists": "set replaces the data of a znode that exists",
    "invalid-acl":
      "auth:: needs an identity (--auth); a digest needs a hash (--hash-digests makes it)",
    unimplemented:
      "TTL znodes need a server with zookeeper.extendedTypesEnabled=true; containers need 3.5 or newer",
  },
  set: { "no-node": "set --create makes the znode" },
  delete: { "not-empty": "deleteall deletes a znode and everything below it" },
  setAcl: {
    "invalid-acl":
      "auth:: needs an identity (addauth); a digest needs a hash (--hash-digests makes it)",
  },
  addauth: { "auth-failed": "the server does not know the scheme, or does not accept the proof" },
  config: { "no-node": "servers before 3.5 have no dynamic configuration" },
  reconfig: {
    "connection-loss": "the change may have been made all the same: config shows it",
    "reconfig-disabled": "the servers need reconfigEnabled=true",
    "no-auth": "it takes the super user, or a w permission on /zookeeper/config",
    unimplemented: "a standalone server cannot be reconfigured",
  },
  "*": {
    "bad-version": "stat shows the version it has now",
    "quota-exceeded": "listquota shows the limits of a path",
    "no-auth": "authenticate with --auth SCHEME:CREDENTIAL, at the prompt with addauth",
    "request-too-large":
      "where the servers' jute.maxbuffer is larger, --max-request SIZE raises the limit",
    "reply-too-long": "--max-reply SIZE raises the limit, for example to 512m",
  },
};

export function hintFor(
  command: string | undefined,
  reason: string,
  { isDefaultServer = false } = {},
): string | undefined {
  // Servers that were named need no hint how to name them.
  if (isDefaultServer && reason === "unreachable" && command !== "connect") {
    return "-s HOSTS names the servers to use; --embedded needs none";
  }
  return HINTS[command ?? "*"]?.[reason] ?? HINTS["*"]?.[reason];
}
