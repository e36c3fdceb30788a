/**
 * The rules of the lease (docs/adr/0003), searched completely by spin. lease.pml describes the
 * model and its parameters.
 */
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { reportingDelayMs, safetyMarginMs } from "../../src/session/zookeeper/lifetime/liveness.ts";

const MODEL = new URL("lease.pml", import.meta.url).pathname;
/** The searches take up to 15 s on a busy core. */
const TIMEOUT_MS = 120_000;
const MAX_MEMORY_MB = 2_000;
const MAX_DEPTH = 100_000;

const ANY = 0;
const SYNC = 1;
const COMMITTED = 2;
const CONFIRMED = 3;
const [LEADER, FOLLOWER] = [1, 2];

/** One unit of the model is a twentieth of the session timeout. */
const T = 20;
/**
 * The client has a true lease, and a quarter of a timeout ago the leader has heard of the session.
 */
const HOLDER = { HELD: 1, LEFT: 15 };
/**
 * Pings and beats were on time before P: the leader has heard of the session 0.39 T before P at
 * most.
 */
const REGULAR = { LEFT: 12 };

type Parameters = Readonly<Record<string, number>>;
type Search = readonly [title: string, parameters: Parameters, isQuick?: "quick"];

/** All searches take minutes of one core: npm test makes the quick ones, npm run test:long all. */
const isLong = process.env.ZKSH_MODEL === "all";

function chosen(searches: readonly Search[]): [title: string, parameters: Parameters][] {
  return searches
    .filter(([, , isQuick]) => isLong || isQuick)
    .map(([title, parameters]) => [title, parameters]);
}

function run(command: string, args: readonly string[], cwd: string): SpawnSyncReturns<string> {
  const result = spawnSync(command, args, { cwd, encoding: "utf8", timeout: TIMEOUT_MS });
  const code =
    result.error === undefined ? undefined : (result.error as NodeJS.ErrnoException).code;
  if (code === "ENOENT")
    throw new Error(`${command} is missing: run npm test as root, or apt-get install spin gcc`);
  if (result.error !== undefined) throw result.error;
  if (result.status !== 0)
    throw new Error(`${command} ${args.join(" ")}: ${result.stdout}${result.stderr}`);
  return result;
}

/** Whether the search finds a client that believes in its lease when the session is closed. */
function isViolated(parameters: Parameters): boolean {
  const folder = mkdtempSync(join(tmpdir(), "zksh-model-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  run(
    "spin",
    ["-a", ...Object.entries(parameters).map(([name, value]) => `-D${name}=${value}`), MODEL],
    folder,
  );
  run(
    "gcc",
    ["-O1", "-w", "-DSAFETY", `-DMEMLIM=${MAX_MEMORY_MB}`, "-o", "search", "pan.c"],
    folder,
  );
  const { stdout } = run("./search", [`-m${MAX_DEPTH}`], folder);
  const errors = /errors: (\d+)/.exec(stdout)?.[1];
  const isComplete = !/Search not completed|max search depth too small/.test(stdout);
  if (errors === "0" && isComplete) return false;
  if (errors !== undefined && errors !== "0" && stdout.includes("assertion violated")) return true;
  throw new Error(`the search was not completed: ${stdout}`);
}

test("the model counts with the figures of the code", () => {
  expect(reportingDelayMs(T)).toBeGreaterThanOrEqual(T / 4);
  expect(safetyMarginMs(T)).toBe(1);
});

describe("a lease is never believed in when the session is closed", { timeout: TIMEOUT_MS }, () => {
  const searches: readonly Search[] = [
    ["with the rule of zksh, whatever is paused, cut or late", { RULE: CONFIRMED }],
    [
      "with a leader whose pings are late, if a timeout is longer than two ticks",
      { RULE: CONFIRMED, T: 12, HALF_TICK: 2, PING_LATE: 1 },
    ],
    [
      "with a paused leader that answers before it pings, if a ping round follows in time",
      { RULE: CONFIRMED, ...REGULAR, PING_FIRST: 0, FRESH: 10, ROUND: 1 },
    ],
    [
      "with a server that grants more than the first one did",
      { RULE: CONFIRMED, T: 12, GRANTED: 16 },
    ],
    [
      "with a server that grants less, by its timeout",
      { RULE: CONFIRMED, GRANTED: 12, LEASE: 12, HALF_TICK: 3, WAIT: 3 },
      "quick",
    ],
    [
      "by a committed transaction alone, for a client of the leader",
      { RULE: COMMITTED, AT: LEADER },
    ],
  ];
  test.each(chosen(searches))("%s", (_, parameters) => {
    expect(isViolated(parameters)).toBe(false);
  });
});

describe("two holders are found", { timeout: TIMEOUT_MS }, () => {
  const searches: readonly Search[] = [
    ["if any answer renews the lease", { RULE: ANY, ...HOLDER }],
    [
      "if a sync or a handshake proves it, because a deposed leader answers both",
      { RULE: SYNC, ...HOLDER, AT: LEADER },
    ],
    ["if a sync proves it to a client of a follower", { RULE: SYNC, ...HOLDER, AT: FOLLOWER }],
    [
      "if the transaction need not follow another answer: it overtakes the report",
      { RULE: COMMITTED, ...HOLDER, AT: FOLLOWER },
    ],
    [
      "if the leader's pings are later than the client waits",
      { RULE: CONFIRMED, ...HOLDER, PING_LATE: 1 },
    ],
    [
      "if a paused leader answers before it pings, and is then cut off",
      { RULE: CONFIRMED, ...HOLDER, PING_FIRST: 0 },
    ],
    [
      "if a paused leader answers before it pings, and late answers count",
      { RULE: CONFIRMED, ...REGULAR, PING_FIRST: 0, ROUND: 1 },
    ],
    [
      "if the client's clock is slower than the margin",
      { RULE: CONFIRMED, ...HOLDER, LEASE: T + 1 },
      "quick",
    ],
    [
      "if a timeout is shorter than two ticks (minSessionTimeout)",
      { RULE: CONFIRMED, ...HOLDER, HALF_TICK: 8 },
    ],
    [
      "if a longer timeout than the first is counted on",
      { RULE: CONFIRMED, ...HOLDER, GRANTED: 28, LEASE: 28 },
    ],
    [
      "if a shorter timeout is not followed",
      { RULE: CONFIRMED, ...HOLDER, GRANTED: 12, HALF_TICK: 3, WAIT: 3 },
      "quick",
    ],
  ];
  test.each(chosen(searches))("%s", (_, parameters) => {
    expect(isViolated(parameters)).toBe(true);
  });
});
