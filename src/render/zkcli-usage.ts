/**
 * What zkCli 3.8.0 says of each command: after too few words, and all of it after an unknown
 * command.
 */
const USAGE: Readonly<Record<string, string>> = {
  addWatch:
    "[-m mode] path # optional mode is one of [PERSISTENT, PERSISTENT_RECURSIVE] - default is " +
    "PERSISTENT_RECURSIVE",
  addauth: "scheme auth",
  close: "",
  config: "[-c] [-w] [-s]",
  connect: "host:port",
  create: "[-s] [-e] [-c] [-t ttl] path [data] [acl]",
  delete: "[-v version] path",
  deleteall: "path [-b batch size]",
  delquota: "[-n|-b|-N|-B] path",
  get: "[-s] [-w] path",
  getAcl: "[-s] path",
  getAllChildrenNumber: "path",
  getEphemerals: "path",
  history: "",
  listquota: "path",
  ls: "[-s] [-w] [-R] path",
  printwatches: "on|off",
  quit: "",
  reconfig:
    "[-s] [-v version] [[-file path] | [-members serverID=host:port1:port2;port3[,...]*]] | " +
    "[-add serverId=host:port1:port2;port3[,...]]* [-remove serverId[,...]*]",
  redo: "cmdno",
  removewatches: "path [-c|-d|-a] [-l]",
  set: "[-s] [-v version] path data",
  setAcl: "[-s] [-v version] [-R] path acl",
  setquota: "-n|-b|-N|-B val path",
  stat: "[-w] path",
  sync: "path",
  version: "",
  whoami: "",
};

/** A command's usage line; undefined for a command that zkCli does not have. */
export function zkcliUsage(name: string): string | undefined {
  const words = USAGE[name];
  return words === undefined ? undefined : `${name} ${words}`;
}

/** What zkCli prints ahead of its complaint about an unknown command. */
export function zkcliUsageList(): string {
  const lines = Object.keys(USAGE).map((name) => `\t${zkcliUsage(name)}\n`);
  return `ZooKeeper -server host:port -client-configuration properties-file cmd args\n${lines.join("")}`;
}
