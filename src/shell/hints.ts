/** What to do next, by command and reason, where the error itself does not say. `*` stands for every other command. */
const HINTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  create: {
    "no-node": "create -p makes the missing parents too",
    "node-exists": "set replaces the data of a znode that exists",
    unimplemented: "TTL znodes need a server with zookeeper.extendedTypesEnabled=true; containers need 3.5 or newer",
  },
  set: { "no-node": "create makes a znode" },
  "*": {
    "bad-version": "stat shows the version it has now",
    "no-auth": "--auth digest:USER:PASSWORD proves who you are",
    unreachable: "-s HOSTS names the servers to use",
  },
};

export function hintFor(command: string | undefined, reason: string): string | undefined {
  return HINTS[command ?? "*"]?.[reason] ?? HINTS["*"]?.[reason];
}
