/** What the answers of the servers mean, one by one and together. */
import type { Member } from "../../session/ensemble-config.ts";
import { type AskedServer, isKnown, type Lag } from "./ask-servers.ts";
import type { EnsembleFinding, ServerFinding } from "./finding.ts";

/** Averages of a few requests say nothing: the first ones of a server are slow. */
const REQUESTS_FOR_AVERAGE = 1_000;
const SLOW_AVERAGE_MS = 100;
/** A tenth of the number from which on a server stops reading from its clients. */
const MANY_OUTSTANDING = 100;

/** What one server's answer means. `all` are the servers that were asked with it. */
export function judgeServer(asked: AskedServer, all: readonly AskedServer[]): ServerFinding[] {
  const { name: server, answer } = asked;
  switch (answer.kind) {
    case "no-address":
      return [{ check: "dns", severity: "error", server, says: answer.says }];
    case "failed": {
      const { why, says } = answer;
      const isOneAddress = all.some(
        (other) => other.server === asked.server && other !== asked && isKnown(other),
      );
      return [{ check: "unreachable", severity: "error", server, why, says, isOneAddress }];
    }
    case "not-serving":
      return [{ check: "not-serving", severity: "error", server }];
    case "not-allowed":
      return [{ check: "word-not-allowed", severity: "warning", server, word: "srvr" }];
    case "unknown":
      return [{ check: "not-zookeeper", severity: "error", server }];
    case "status":
      return judgeStatus(server, answer.status);
  }
}

function judgeStatus(
  server: string,
  { mode, latency, received = 0, outstanding = 0 }: StatusOf,
): ServerFinding[] {
  const findings: ServerFinding[] = [];
  if (mode === "read-only") findings.push({ check: "read-only", severity: "error", server });
  if (latency && latency.avg >= SLOW_AVERAGE_MS && received >= REQUESTS_FOR_AVERAGE) {
    const { avg: avgMs, max: maxMs } = latency;
    findings.push({ check: "slow", severity: "warning", server, avgMs, maxMs, requests: received });
  }
  if (outstanding >= MANY_OUTSTANDING)
    findings.push({ check: "outstanding", severity: "warning", server, outstanding });
  return findings;
}

type StatusOf = Extract<AskedServer["answer"], { kind: "status" }>["status"];

export function judgeLag({ asked, zxid, leaderZxid, waitedMs }: Lag): ServerFinding {
  const { name: server } = asked;
  return { check: "lag", severity: "error", server, zxid, leaderZxid, waitedMs };
}

/** Whether the servers are one ensemble of one release with one leader. */
export function judgeEnsemble(asked: readonly AskedServer[]): EnsembleFinding[] {
  const known = asked.filter(isKnown);
  const inMode = (...modes: string[]) =>
    known.filter(({ answer }) => modes.includes(answer.status.mode ?? "")).map(({ name }) => name);
  const leaders = inMode("leader");
  const alone = inMode("standalone");
  const servers = known.map(({ name }) => name);
  const findings: EnsembleFinding[] = [];
  if (leaders.length > 1)
    findings.push({ check: "several-leaders", severity: "error", servers: leaders });
  if (alone.length > 0 && known.length > 1)
    findings.push({ check: "several-ensembles", severity: "error", servers });
  // Followers serve clients only with a leader: it may be a member that is not known.
  const isComplete = inMode("follower", "observer").length === 0;
  const hasNone = leaders.length === 0 && alone.length === 0;
  const notServing = asked.filter(({ answer }) => answer.kind === "not-serving");
  if (hasNone && isComplete && notServing.length > 0) {
    const names = notServing.map(({ name }) => name);
    findings.push({ check: "no-leader", severity: "error", servers: names });
  }
  const releases = known.flatMap(({ name: server, answer: { status } }) =>
    status.release === undefined ? [] : [{ server, release: status.release }],
  );
  if (new Set(releases.map(({ release }) => release)).size > 1)
    findings.push({ check: "version-skew", severity: "warning", releases });
  return findings;
}

/** Whether all voters that are configured follow the leader. */
export function judgeSynced(
  leader: string,
  members: readonly Member[],
  { synced, learners }: { readonly synced?: number; readonly learners?: number },
): EnsembleFinding[] {
  const voters = members.filter(({ isObserver }) => !isObserver).length;
  const followers = voters > 0 ? voters - 1 : learners;
  if (synced === undefined || followers === undefined || synced >= followers) return [];
  // The leader and its followers must stay a majority when one more of them fails.
  const canLoseOne = synced * 2 > followers + 1;
  const severity = canLoseOne ? "warning" : "error";
  return [{ check: "followers-not-synced", severity, server: leader, synced, followers }];
}
