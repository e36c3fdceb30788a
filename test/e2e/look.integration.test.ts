/** How a session looks on a real terminal of 80 columns. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTerminals, type Terminal, type Terminals } from "../support/terminal.ts";

let terminals: Terminals;

beforeAll(async () => {
  terminals = await startTerminals();
});

afterAll(() => terminals.stop());

const JSON_DATA = '{"name":"orders","replicas":3,"debug":false,"owner":null}';

const lines: { line: string; shows: string | RegExp }[] = [
  { line: `create /app '${JSON_DATA}'`, shows: "\nCreated /app\n" },
  { line: "create -e /app/lease", shows: "\nCreated /app/lease\n" },
  { line: "create /app/日本", shows: "\nCreated /app/日本\n" },
  { line: "ls /app", shows: "\nlease*  日本\n" },
  { line: "ls /app/lease", shows: "\n(no children)\n" },
  { line: "get /app/lease", shows: "\n(no data)\n" },
  {
    line: "get /app",
    shows: '\n{\n  "name": "orders",\n  "replicas": 3,\n  "debug": false,\n  "owner": null\n}\n',
  },
  { line: "stat /zookeeper", shows: "\nctime          = never set\n" },
  {
    line: "get /app/leese",
    shows: "/app/leese (NoNode)\n  nearest existing parent: /app; did you mean /app/lease?\n",
  },
  { line: "lock /deploy", shows: /lock:\/deploy \/ ›$/ },
  { line: "lock /jobs", shows: /lock:\/deploy,\/jobs \/ ›$/ },
  { line: "rwlock read /db", shows: /lock:\/deploy,\/jobs read:\/db \/ ›$/ },
];

async function session(env: Readonly<Record<string, string>>): Promise<Terminal> {
  const terminal = await terminals.open({ args: ["--embedded"], columns: 80, rows: 50, env });
  await terminal.shows(/^connected to [\s\S]*›$/m);
  for (const { line, shows } of lines) {
    await terminal.enter(line);
    await terminal.shows(shows);
    await terminal.endsWith("›");
  }
  return terminal;
}

test("a session has the terminal's 16 colours, and neither blue nor yellow", async () => {
  const codes = await (await session({})).colorCodes();
  const [bold, dim, red, green, magenta, cyan] = [1, 2, 31, 32, 35, 36];
  for (const code of [bold, dim, red, green, magenta, cyan]) expect(codes).toContain(code);
  const resets = [0, 39, 49];
  expect(
    [...codes].filter((code) => ![bold, dim, red, green, magenta, cyan, ...resets].includes(code)),
  ).toEqual([]);
});

test("a session with NO_COLOR shows the same text, and no colours", async () => {
  const terminal = await session({ NO_COLOR: "1" });
  expect(
    [...(await terminal.colorCodes())].filter((code) => code !== 0 && code !== 39 && code !== 49),
  ).toEqual([]);
});
