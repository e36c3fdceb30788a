import { onTestFinished, test } from "vitest";
import { openFor } from "../support/open-session.ts";
import { startTerminals } from "../support/terminal.ts";
import { startServer } from "../support/zookeeper-server.ts";

const CHILDREN = 300_000;
const BATCH = 2_000;

/**
 * A key must be answered within this, whatever TAB is doing: a slow machine's measure of "at once".
 */
const AT_ONCE_MS = 5_000;

async function crowdedServer(): Promise<string> {
  // A server of its own: the others' need not hold this.
  const server = await startServer({ jvmFlags: ["-Xmx512m"] });
  onTestFinished(() => server.stop());
  const session = openFor(server.address, { timeoutMs: 60_000 });
  await session.create("/crowd", null);
  const create = (_: unknown, index: number) =>
    ({ op: "create", path: `/crowd/${name(index)}`, data: null }) as const;
  const ops = Array.from({ length: CHILDREN }, create);
  const batches = Array.from({ length: CHILDREN / BATCH }, (_, i) =>
    ops.slice(i * BATCH, (i + 1) * BATCH),
  );
  // One after the other: a heartbeat behind all of them would come too late where they take half a
  // minute.
  for (const batch of batches) await session.multi(batch);
  await session.close();
  return server.address;
}

/** They begin with different digits, so that there is nothing for TAB to fill in. */
function name(index: number): string {
  return String(index).padStart(6, "0");
}

test("300,000 children delay neither TAB nor the keys typed after it", async () => {
  const server = await crowdedServer();
  const terminals = await startTerminals();
  onTestFinished(() => terminals.stop());
  const terminal = await terminals.open({ args: ["-s", server] });
  await terminal.shows("connected to");

  await terminal.type("exists /crowd/");
  await terminal.endsWith("exists /crowd/");
  await terminal.press("Tab");
  await terminal.shows("300,000 children: TAB again lists them", AT_ONCE_MS);

  // All names are asked for; whoever types on need not wait for them.
  await terminal.press("Tab");
  await terminal.type("2999");
  await terminal.endsWith("exists /crowd/2999", AT_ONCE_MS);
  await terminal.press("BSpace", "BSpace", "BSpace", "BSpace", "Tab", "Tab");
  await terminal.shows("… 299,800 more, type on to see fewer", AT_ONCE_MS);
  await terminal.type("299997");
  await terminal.press("Enter");
  await terminal.shows("/crowd/299997 exists", AT_ONCE_MS);
});
