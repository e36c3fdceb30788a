/**
 * Every command and renderer on a server that says anything: never a bug, never a raw control
 * character, never for long.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { lex } from "../../src/shell/parsing/lexer.ts";
import { Random } from "../support/random.ts";
import { forBudget, SEED, timeoutMs } from "./budget.ts";
import { HostileServer } from "./hostile-server.ts";
import { check, type Item } from "./item.ts";
import { commandLines, SCRIPTS } from "./lines.ts";

const SHARE = 0.6;

let server: HostileServer;
let lines: readonly string[];
beforeAll(async () => {
  server = await HostileServer.start();
  lines = await commandLines();
});
afterAll(() => server.fake.close());

const FORMATS = ["text", "text", "json", "zkcli"] as const;

function itemOf(seed: number): Item {
  const random = new Random(seed ^ 0x5eed);
  const format = FORMATS[random.index(FORMATS.length)] ?? "text";
  const tty = random.chance(0.5);
  const keys = [random.chance(0.5) ? "y\r" : "n\r"];
  if (random.chance(0.25)) {
    const script = SCRIPTS[random.index(SCRIPTS.length)] ?? "";
    const hasExactData = /\bget\b/.test(script);
    return { argv: ["--keep-going", "-c", script], format, tty, keys, hasExactData };
  }
  const line = lines[random.index(lines.length)] ?? "";
  const argv = lex(line).statements[0]?.words.map(({ text }) => text) ?? [];
  return { argv, format, tty, keys, hasExactData: argv.includes("get") || argv[0] === "word" };
}

test(`from seed ${SEED}`, { timeout: timeoutMs(SHARE) }, async () => {
  await forBudget(SHARE, async (seed) => {
    const item = itemOf(seed);
    const { exit, stdout } = await check(item, server.fake.address, () => server.reseed(seed));
    const isExact =
      item.argv.join(" ") === "get /zookeeper/config" &&
      item.format === "text" &&
      !item.tty &&
      exit === 0;
    if (isExact) expect(stdout).toBe(String(server.sent.at(-1) ?? ""));
  });
});
