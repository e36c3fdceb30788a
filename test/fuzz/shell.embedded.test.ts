/**
 * The interactive shell on a hostile server: the prompt, TAB, watch events, and what is said of the
 * session.
 */
import { afterAll, beforeAll, test } from "vitest";
import { Random } from "../support/random.ts";
import { forBudget, SEED, timeoutMs } from "./budget.ts";
import { Hostile } from "./hostile.ts";
import { HostileServer } from "./hostile-server.ts";
import { check } from "./item.ts";
import { commandLines, SCRIPTS } from "./lines.ts";

const SHARE = 0.2;
const TAB = "\t";

let server: HostileServer;
let lines: readonly string[];
beforeAll(async () => {
  server = await HostileServer.start();
  // Global options do not stand at the prompt, and what is exact in a pipe is exact there.
  lines = (await commandLines()).filter((line) => !line.startsWith("-"));
});
afterAll(() => server.fake.close());

function keysOf(hostile: Hostile): string[] {
  const one = (): string[] => {
    const way = hostile.random.weighted({ line: 4, script: 2, tab: 4, interrupt: 1 });
    if (way === "line") return [`${hostile.pick(lines)}\r`];
    if (way === "script") return [`${hostile.pick(SCRIPTS)}\r`];
    if (way === "interrupt") return ["\u0003"];
    const begun = hostile.pick([
      "get /",
      "ls /app/",
      "get /app/a",
      "ls ",
      "cd /a/",
      "whoholds /lock/_c_",
      "ge",
    ]);
    return [begun, TAB, TAB, TAB, hostile.pick(["\r", "\u0003"])];
  };
  return [...Array.from({ length: 4 }, one).flat(), "y\r", "\r", "quit\r"];
}

test(`from seed ${SEED}`, { timeout: timeoutMs(SHARE) }, async () => {
  await forBudget(SHARE, async (seed) => {
    const hostile = new Hostile(new Random(seed));
    const typed = keysOf(hostile);
    await check({ argv: [], format: "text", tty: true, typed }, server.fake.address, () =>
      server.reseed(seed),
    );
  });
});
