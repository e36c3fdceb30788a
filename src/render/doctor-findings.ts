/** What a finding of `doctor` says: where it is, and the numbers behind it. */
import type { Finding } from "../recipes/doctor/finding.ts";
import { formatAcl } from "../session/acl.ts";
import { formatAddress } from "../session/connect-string.ts";
import { hexId } from "../text/hex-id.ts";
import { formatSize } from "../text/size.ts";
import { age } from "./age.ts";

/** The server, the znode, or `ensemble`. */
export function placeOf(finding: Finding): string {
  if (finding.check === "chroot-missing") return finding.chroot;
  if ("path" in finding && finding.path !== undefined) return finding.path;
  return ("server" in finding ? finding.server : undefined) ?? "ensemble";
}

export function sentenceOf(finding: Finding): string {
  switch (finding.check) {
    case "dns":
      return `the name has no address: ${finding.says}`;
    case "unreachable":
      return finding.isOneAddress
        ? `${finding.says}; other addresses of the same name answer`
        : finding.says;
    case "not-zookeeper":
      return "its answer to srvr is not that of a ZooKeeper server";
    case "not-serving":
      return "the server runs but serves no clients: it has no quorum";
    case "read-only":
      return "the server is cut off from its quorum, and serves reads only";
    case "slow":
      return `a request takes ${round(finding.avgMs)} ms on average and ${round(finding.maxMs)} ms at most, over ${counted(finding.requests, "request")}`;
    case "outstanding":
      return `${counted(finding.outstanding, "request")} wait in its queue`;
    case "word-not-allowed":
      return finding.word === "srvr"
        ? "srvr is not in its whitelist: its version, role, latency and zxid are unknown"
        : "mntr is not in its whitelist: its followers in sync are unknown";
    case "lag":
      return lagSentence(finding);
    case "no-leader":
      return `no server leads; without a quorum: ${finding.servers.join(", ")}`;
    case "several-leaders":
      return `${finding.servers.length} servers lead: ${finding.servers.join(", ")}; they are several ensembles`;
    case "several-ensembles":
      return `these servers are not one ensemble, some are standalone: ${finding.servers.join(", ")}`;
    case "version-skew":
      return `the servers run different releases: ${finding.releases.map(({ server, release }) => `${server} ${release}`).join(", ")}`;
    case "followers-not-synced": {
      const { synced, followers } = finding;
      const isLast = finding.severity === "error";
      return `${synced} of ${counted(followers, "follower")} ${synced === 1 ? "is" : "are"} in sync${isLast ? ": no further server may fail" : ""}`;
    }
    case "member-not-listed":
      return `the connect string lacks ${finding.members.map(formatAddress).join(", ")}: clients cannot go there when other servers fail`;
    case "no-session":
      return `no session can be opened: ${finding.says}`;
    case "clock-skew":
      return clockSentence(finding);
    case "chroot-missing":
      return "the chroot of the connect string does not exist";
    case "wide-parent": {
      const { children, bytes, limit } = finding;
      const list = bytes === undefined ? "" : `; their list takes ${shareOf(bytes, limit)}`;
      return `${counted(children, "child", "children")}${list}`;
    }
    case "large-znode":
      return `its data takes ${shareOf(finding.bytes, finding.limit)}`;
    case "open-acl": {
      const open = finding.acl.filter(({ scheme, id }) => scheme === "world" && id === "anyone");
      return `every client may change it: ${open.map(formatAcl).join(", ")}`;
    }
    case "quota": {
      const { what, isHard, used, limit } = finding;
      const percent = limit > 0n ? ` (${(used * 100n) / limit} %)` : "";
      const unit = what === "bytes" ? "bytes" : "znodes";
      return `${used} of ${limit} ${unit}${percent} of its ${isHard ? "hard" : "soft"} quota are used`;
    }
    case "more":
      return `${finding.count} more of ${finding.of}`;
  }
}

function lagSentence({ zxid, leaderZxid, waitedMs }: Extract<Finding, { check: "lag" }>): string {
  const isSameEpoch = zxid >> 32n === leaderZxid >> 32n;
  const behind = isSameEpoch ? `${leaderZxid - zxid} transactions` : "a change of the leader";
  return `${behind} behind: at ${hexId(zxid)}, where the leader was at ${hexId(leaderZxid)} ${round(waitedMs / 1_000)} s before`;
}

function clockSentence(finding: Extract<Finding, { check: "clock-skew" }>): string {
  const { server, aheadMs, path } = finding;
  const by = age(Math.abs(aheadMs));
  if (path !== undefined)
    return `its time is ${by} in the future: the clock of the leader that wrote it is ahead of this machine's`;
  const side = aheadMs > 0 ? "ahead of" : "behind";
  return server === undefined
    ? `the clock of this machine is ${by} ${side} those of all servers`
    : `its clock is ${by} ${side} that of this machine`;
}

function shareOf(bytes: number, limit: number): string {
  const percent = Math.round((bytes / limit) * 100);
  return `${formatSize(bytes)}, ${percent} % of jute.maxbuffer (${formatSize(limit)})`;
}

export function counted(number: number, noun: string, plural = `${noun}s`): string {
  return `${number.toLocaleString("en-US")} ${number === 1 ? noun : plural}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
