/** What helps against a finding of `doctor`: words, and where there is one a line to type. */
import type { Finding } from "../recipes/doctor/finding.ts";
import type { DoctorTarget } from "../results/doctor.ts";
import { formatAcl } from "../session/acl.ts";
import { formatAddress, formatConnectString } from "../session/connect-string.ts";
import { type Acl, Permission } from "../session/session.ts";
import { quoteWord } from "../text/quote-word.ts";

export interface Fix {
  readonly says: string;
  /** A line of zksh, for where doctor was typed. */
  readonly command?: string | undefined;
  /** A line of zoo.cfg. */
  readonly config?: string;
}

export function fixOf(finding: Finding, from: DoctorTarget): Fix {
  switch (finding.check) {
    case "dns": {
      const servers = from.servers.filter((one) => formatAddress(one) !== finding.server);
      return { says: "correct the name, or leave it out", command: elsewhere(from, servers) };
    }
    case "unreachable":
      return reachFix(finding, from);
    case "not-zookeeper":
      return { says: NOT_CLIENT_PORT };
    case "not-serving":
    case "no-leader":
      return {
        says: "start the other members of its ensemble: more than half of them must run (zkServer.sh start)",
      };
    case "read-only":
      return { says: "start the other members, or mend the network between them and this server" };
    case "slow":
      return {
        says: "give the transaction log a disk of its own",
        config: "dataLogDir=/OTHER/DISK",
      };
    case "outstanding":
      return {
        says: "look for the clients that ask so much: word cons shows the connections of a server",
      };
    case "word-not-allowed": {
      const config = "4lw.commands.whitelist=srvr,mntr";
      return {
        says: "put this line into zoo.cfg of each server, and restart them one by one",
        config,
      };
    }
    case "lag":
      return {
        says: `restart it if it does not catch up (zkServer.sh restart), and look at its disk and network`,
      };
    case "several-leaders":
    case "several-ensembles":
      return { says: "name the servers of one ensemble only in the connect string" };
    case "version-skew":
      return {
        says: "finish the upgrade: install the same release on every server, one by one, the leader last",
      };
    case "followers-not-synced":
      return {
        says: "start the members that are down (zkServer.sh start); those that are up are still catching up",
      };
    case "member-not-listed": {
      const servers = [...from.servers, ...finding.members];
      return { says: "name all members", command: elsewhere(from, servers) };
    }
    case "no-session":
      return { says: "look into the server's log; zksh --debug version shows the handshake" };
    case "clock-skew":
      return { says: "set the clock there, and keep it by NTP: chronyc makestep" };
    case "chroot-missing":
      return {
        says: "create it",
        command: `zksh ${connection(from, "")} create -p ${quoteWord(finding.chroot)}`,
      };
    case "wide-parent":
      return {
        says: "spread its children over several parents; if none of them is needed any more, delete it",
        command: line(from, `deleteall ${quoteWord(finding.path)}`),
      };
    case "large-znode":
      return {
        says: "keep large data elsewhere, and only its address here; if it is not needed any more, delete it",
        command: line(from, `deleteall ${quoteWord(finding.path)}`),
      };
    case "open-acl":
      return aclFix(finding, from);
    case "quota":
      return quotaFix(finding, from);
    case "more":
      return { says: "see to those that are named first" };
  }
}

const NOT_CLIENT_PORT =
  "correct the port: clients use clientPort of zoo.cfg, not the ports of the ensemble or of the AdminServer";

type Unreachable = Extract<Finding, { check: "unreachable" }>;

function reachFix({ why, isOneAddress }: Unreachable, from: DoctorTarget): Fix {
  if (isOneAddress) return { says: "take this address out of DNS, or start its server" };
  const again = (options: string) =>
    `zksh -s ${quoteWord(formatConnectString(from))}${options} doctor`;
  switch (why) {
    case "dns":
    case "refused":
      return { says: "start the server: zkServer.sh start" };
    case "unreachable":
      return { says: "start the machine, or let its firewall open the port" };
    case "expects-tls":
      return {
        says: "use TLS, with --tls-ca FILE if your own authority signed the server's certificate",
        command: again(" --tls"),
      };
    case "not-tls":
      return {
        says: "use the TLS port of the server (secureClientPort), or no TLS",
        command: again(""),
      };
    case "tls":
      return { says: "name the authority that signed the server's certificate: --tls-ca FILE" };
    case "closed":
      return {
        says: "allow more connections from one machine, if its log says Too many connections",
        config: "maxClientCnxns=0",
      };
    case "too-long":
    case "failed":
      return { says: NOT_CLIENT_PORT };
    case "no-answer":
      return { says: "its process is stopped or overloaded: restart it (zkServer.sh restart)" };
  }
}

function aclFix(
  { path, acl, hasIdentity }: Extract<Finding, { check: "open-acl" }>,
  from: DoctorTarget,
): Fix {
  const closed = acl.flatMap(closedEntry);
  const others = closed.filter(({ scheme }) => scheme !== "world");
  // Servers hide hashes from sessions without admin permission: such an ACL cannot be written again.
  if (others.some(({ scheme, id }) => scheme === "digest" && id.endsWith(":x")))
    return {
      says: "have an identity with admin permission take write and admin from world:anyone",
    };
  const hasAdmin = others.some(({ perms }) => (perms & Permission.admin) !== 0);
  const entries = [...(hasAdmin ? [] : ["auth::cdrwa"]), ...closed.map(formatAcl)].join(",");
  const setAcl = `setAcl ${quoteWord(path)} ${quoteWord(entries)}`;
  if (hasAdmin) return { says: "leave reading to others", command: line(from, setAcl) };
  const says = "give it to the identity of its writers, and leave reading to others";
  if (hasIdentity) return { says, command: line(from, setAcl) };
  return {
    says,
    command: from.isOneShot
      ? `zksh ${connection(from)} --auth digest:USER:PASSWORD ${setAcl}`
      : `addauth digest USER:PASSWORD; ${setAcl}`,
  };
}

function closedEntry(entry: Acl): Acl[] {
  if (entry.scheme !== "world") return [entry];
  const perms = entry.perms & Permission.read;
  return perms === 0 ? [] : [{ ...entry, perms }];
}

function quotaFix(
  { path, what, isHard, used, limit }: Extract<Finding, { check: "quota" }>,
  from: DoctorTarget,
): Fix {
  const letter = { count: isHard ? "N" : "n", bytes: isHard ? "B" : "b" }[what];
  const most = used > limit ? used : limit;
  const command = `setquota -${letter} ${most * 2n} ${quoteWord(path)}`;
  return {
    says: "delete what is not needed there, or raise the limit",
    // Quotas are outside every chroot.
    command: from.chroot === "" ? line(from, command) : `zksh ${connection(from, "")} ${command}`,
  };
}

/** A line for the place where doctor was typed. */
function line(from: DoctorTarget, command: string): string {
  return from.isOneShot ? `zksh ${connection(from)} ${command}` : command;
}

/** doctor again, with other servers; undefined without any. */
function elsewhere(from: DoctorTarget, servers: DoctorTarget["servers"]): string | undefined {
  if (servers.length === 0) return undefined;
  const there = { ...from, servers };
  return from.isOneShot
    ? `zksh ${connection(there)} doctor`
    : `connect ${quoteWord(formatConnectString(there))}`;
}

function connection({ servers, chroot, isTls }: DoctorTarget, below = chroot): string {
  return `-s ${quoteWord(formatConnectString({ servers, chroot: below }))}${isTls ? " --tls" : ""}`;
}
