/** Transactions whose connection breaks: each is carried out as a whole or not at all. */
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { ZkshError } from "../../src/errors.ts";
import { transact } from "../../src/recipes/transaction.ts";
import type { MultiOp, ReadResult, Session } from "../../src/session/session.ts";
import { behindProxy } from "../support/behind-proxy.ts";
import { eventually } from "../support/eventually.ts";
import type { FaultProxy } from "../support/fault-proxy.ts";
import { Random } from "../support/random.ts";
import { runZksh } from "../support/zksh-process.ts";

const signal = new AbortController().signal;
const TIMES = 100;

const FAULTS: Readonly<Record<string, (proxy: FaultProxy, random: Random) => void>> = {
  "half of the request": (proxy) => proxy.cutMidFrame("to-server"),
  "half of the reply": (proxy) => proxy.cutMidFrame("to-client"),
  "before the request": (proxy) => dropAt(proxy, "to-server"),
  "before the reply": (proxy) => dropAt(proxy, "to-client"),
  "some turns behind the request": (proxy, random) => {
    const turns = random.index(40);
    onNext(proxy, "to-server", () => void dropAfter(proxy, turns));
  },
};

function dropAt(proxy: FaultProxy, direction: "to-server" | "to-client"): void {
  onNext(proxy, direction, () => proxy.drop());
}

function onNext(proxy: FaultProxy, direction: string, act: () => void): void {
  proxy.onBytes = (towards) => {
    if (towards !== direction) return;
    proxy.onBytes = () => {};
    act();
  };
}

async function dropAfter(proxy: FaultProxy, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await setImmediate();
  proxy.drop();
}

test(`of ${TIMES} transactions whose connection breaks, none is half done`, async () => {
  const { session, other, proxy } = await behindProxy();
  await other.create("/state", Buffer.from("-1"));
  const random = new Random(7);
  const names = Object.keys(FAULTS);
  const seen = { done: 0, undone: 0, answered: 0, doubtful: 0 };
  for (let round = 0; round < TIMES; round++) {
    await other.create(`/old-${round}`, null);
    const [before] = await dataOf(other, ["/state"]);
    await session.connected();
    await session.exists("/state");
    FAULTS[names[round % names.length] ?? ""]?.(proxy, random);
    const outcome = await transact(session, opsOf(round), { signal, howToLook: "look" }).then(
      () => "done",
      (error: unknown) => error,
    );
    proxy.onBytes = () => {};
    // A request that reached the server before its connection broke may be carried out later.
    const looks = [await look(other, round, before), await settled(other, round, before)];
    const isDone = looks[1] === "all";
    expect(looks).not.toContain("half");
    if (outcome === "done") expect(isDone).toBe(true);
    else if (!isInDoubt(outcome)) expect(isDone).toBe(false);
    seen[isDone ? "done" : "undone"] += 1;
    seen[outcome === "done" ? "answered" : "doubtful"] += 1;
  }
  expect(seen.done + seen.undone).toBe(TIMES);
  expect(Math.min(seen.done, seen.undone, seen.doubtful)).toBeGreaterThan(10);
}, 120_000);

function opsOf(round: number): MultiOp[] {
  return [
    { op: "create", path: `/new-${round}`, data: null },
    { op: "setData", path: "/state", data: Buffer.from(String(round)) },
    { op: "delete", path: `/old-${round}` },
    { op: "create", path: `/new-${round}/below`, data: null },
  ];
}

function isInDoubt(error: unknown): boolean {
  expect(error).toBeInstanceOf(ZkshError);
  const { message, hint } = error as ZkshError;
  const isSaid = message.includes("the transaction may have been carried out");
  expect(hint === "look").toBe(isSaid);
  return isSaid;
}

async function dataOf(session: Session, paths: readonly string[]): Promise<(string | null)[]> {
  const read = await session.multiRead(paths.map((path) => ({ op: "getData", path }) as const));
  return read.map((one: ReadResult) => (one.op === "getData" ? String(one.data) : null));
}

/** What one request sees of a transaction. */
async function look(session: Session, round: number, before: string | null | undefined) {
  const paths = [`/new-${round}`, `/new-${round}/below`, `/old-${round}`, "/state"];
  const [made, below, old, state] = await dataOf(session, paths);
  const steps = [made !== null, below !== null, old === null, state === String(round)];
  if (steps.every((isDone) => isDone)) return "all";
  return steps.some((isDone) => isDone) || state !== before ? "half" : "none";
}

/** A transaction behind it has been committed, and two looks say the same. */
async function settled(session: Session, round: number, before: string | null | undefined) {
  let last: string | undefined;
  await eventually(async () => {
    await session.multi([{ op: "check", path: "/state" }]);
    const now = await look(session, round, before);
    const isSame = now === last;
    last = now;
    return isSame;
  });
  return last;
}

test("the command says that its fate is unknown, with exit code 6", async () => {
  const { other, proxy } = await behindProxy();
  await other.create("/app", null);
  const chroot = other.connectString.slice(other.connectString.indexOf("/"));
  proxy.onBytes = (direction, chunk) => {
    if (direction !== "to-server" || !chunk.includes("/app/new")) return;
    proxy.onBytes = () => {};
    proxy.cutMidFrame("to-client");
  };
  const { code, stderr } = await runZksh([
    ...["-s", `${proxy.address}${chroot}`, "txn"],
    ...["create /app/new x", "set /app y"],
  ]);
  expect([code, stderr]).toEqual([
    6,
    expect.stringMatching(
      /; the transaction may have been carried out\n.*is not repeated; look with: exists \/app\/new\n$/,
    ),
  ]);
});
