/**
 * Long scripts, whose lines share flights: what is written and done is what one line after the
 * other would have.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { startFakeServer } from "../support/fake-server.ts";
import { startFaultProxy } from "../support/fault-proxy.ts";
import { openFor } from "../support/open-session.ts";
import { freshChroot, sharedServer } from "../support/shared-server.ts";
import { ended, spawnTracked, temporaryDirectory } from "../support/tracked-process.ts";
import { runZksh, startZksh } from "../support/zksh-process.ts";

const COUNT = 1_000;
let server: string;
let env: { ZKSH_SERVER: string };

beforeAll(async () => {
  server = await freshChroot();
  env = { ZKSH_SERVER: server };
  const script = ["create /n", ...numbers(COUNT).map((i) => `create /n/${i} data-${i},`)].join(
    "\n",
  );
  await runZksh(["--keep-going"], { env, input: script });
});

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}

function lines(count: number, line: (i: number) => string): string {
  return numbers(count)
    .map((i) => `${line(i)}\n`)
    .join("");
}

const FORMATS = [
  { format: "text", data: (i: number) => `data-${i},` },
  { format: "json", data: (i: number) => `"data":"data-${i},"` },
  { format: "zkcli", data: (i: number) => `data-${i},\n` },
];

describe("the output", () => {
  test.each(FORMATS)("is in the order of the lines: $format", async ({ format, data }) => {
    const input = lines(COUNT, (i) =>
      i % 7 === 0 ? `ls /n/${i}` : i % 5 === 0 ? `stat /n/${i}` : `get /n/${i}`,
    );
    const { code, stdout, stderr } = await runZksh(["-o", format], { env, input });
    expect([code, stderr]).toEqual([0, ""]);
    let at = 0;
    for (const i of numbers(COUNT)) {
      if (i % 7 === 0 || i % 5 === 0) continue;
      at = String(stdout).indexOf(data(i), at);
      expect([i, at >= 0]).toEqual([i, true]);
    }
  });

  test("has errors between the lines around them, each with its line", async () => {
    const input = lines(300, (i) =>
      i % 10 === 3 ? `get /none/${i}` : i % 10 === 7 ? `nonsense ${i}` : `get /n/${i}`,
    );
    const child = spawnTracked(
      "bash",
      ["-c", `"$0" bin/zksh.js --keep-going 2>&1`, process.execPath],
      {
        cwd: `${import.meta.dirname}/../..`,
        env: { ...process.env, ...env },
      },
    );
    let written = "";
    child.stdout?.on("data", (chunk) => (written += chunk));
    child.stdin?.end(input);
    await ended(child);
    await eventually(() => child.stdout?.readableEnded === true);
    const seen = [...written.matchAll(/data-(\d+),|stdin:(\d+): error/g)].map(([, data, line]) =>
      line === undefined ? `data ${data}` : `error ${Number(line) - 1}`,
    );
    const expected = numbers(300).map((i) =>
      i % 10 === 3 || i % 10 === 7 ? `error ${i}` : `data ${i}`,
    );
    expect([child.exitCode, seen]).toEqual([8, expected]);
  });

  test("is complete where znodes are large", async () => {
    const session = openFor(server);
    const data = numbers(200).map(() => randomBytes(50 * 1024).toString("hex"));
    await session.create("/large", null);
    await Promise.all(data.map((text, i) => session.create(`/large/${i}`, Buffer.from(text))));
    const { code, stdout, stderr } = await runZksh([], {
      env,
      input: lines(200, (i) => `get /large/${i}`),
    });
    expect([code, stderr, String(stdout) === data.join("")]).toEqual([0, "", true]);
  });

  test("comes line by line while the script goes on", async () => {
    const zksh = startZksh([], { env });
    let expected = "";
    for (const i of numbers(20)) {
      zksh.write(`get /n/${i}\n`);
      expected += `data-${i},`;
      await eventually(() => String(zksh.stdout) === expected);
    }
    zksh.write("get /n/1; get /n/2; create /n/answered x; get /n/answered\nget /n/3\n");
    expected += "data-1,data-2,/n/answered\nxdata-3,";
    await eventually(() => String(zksh.stdout) === expected);
    zksh.endInput();
    expect((await zksh.result).code).toBe(0);
  });
});

describe("a failure in the middle", () => {
  test.each([
    {
      name: "a read",
      line: "get /none",
      says: "stdin:51: error: no such znode: /none (NoNode)",
      code: 3,
    },
    { name: "an answer that says no", line: "exists /none", says: "", code: 1 },
    {
      name: "a mistake",
      line: "get",
      says: "stdin:51: error: missing required argument 'path'",
      code: 2,
    },
    {
      name: "a write",
      line: "create /n/1",
      says: "stdin:51: error: znode already exists: /n/1",
      code: 5,
    },
  ])("ends the script: $name", async ({ line, says, code }) => {
    const after = `/after-${code}`;
    const input = `${lines(50, (i) => `get /n/${i}`)}${line}\nget /n/50\ncreate ${after}\nget /n/51\n`;
    const result = await runZksh([], { env, input });
    const before = numbers(50)
      .map((i) => `data-${i},`)
      .join("");
    expect(String(result.stdout).replace(/(false|no)?\n?$/, "")).toBe(before);
    expect(result.stderr).toContain(says);
    expect(result.stderr.split("error:").length).toBe(says === "" ? 1 : 2);
    expect(result.code).toBe(code);
    expect(await openFor(server).exists(after)).toBeUndefined();
  });

  test("does not, with --keep-going; writes that follow are done", async () => {
    const input = `${lines(100, (i) => `create /n/${i % 2 === 0 ? i : `new-${i}`} x`)}get /n/new-99\n`;
    const { code, stdout, stderr } = await runZksh(["--keep-going"], { env, input });
    const made = numbers(100).filter((i) => i % 2 === 1);
    expect(String(stdout)).toBe(`${made.map((i) => `/n/new-${i}\n`).join("")}x`);
    const failed = [...stderr.matchAll(/stdin:(\d+): error: znode already exists: \/n\/(\d+) /g)];
    expect(failed.map(([, line, name]) => Number(line) - Number(name))).toEqual(made.map(() => 1));
    expect(code).toBe(8);
  });
});

test.each([
  { argv: [], code: 2, says: "stdin:3: error: the script is not UTF-8" },
  { argv: ["--keep-going"], code: 8, says: "stdin:3: error: the script is not UTF-8" },
  { argv: ["-o", "zkcli"], code: 2, says: "the script is not UTF-8" },
])(
  "bytes that are not text are refused, not stored as something else: $argv",
  async ({ argv, code, says }) => {
    const node = "/latin1";
    const input = Buffer.concat([
      Buffer.from(`create ${node} ü\n\nset ${node} na`),
      Buffer.of(0xef),
      Buffer.from("ve\n"),
    ]);
    const { stderr, ...ended } = await runZksh(argv, { input, env });
    expect([ended.code, stderr]).toEqual([code, expect.stringContaining(says)]);
    expect(await runZksh(["exists", node], { env })).toMatchObject({ code: 1 });
  },
);

describe("a line sees what the lines before it have done, and nothing of those behind it", () => {
  test.each([{ argv: [] }, { argv: ["--keep-going"] }, { argv: ["-o", "zkcli", "--keep-going"] }])(
    "$argv",
    async ({ argv }) => {
      const own = `/own-${argv.length}`;
      const input = `create ${own} 0\n${lines(600, (i) => {
        const round = Math.floor(i / 6);
        return i % 6 === 0 ? `set ${own} v${round},` : i % 6 === 4 ? `stat ${own}` : `get ${own}`;
      })}delete ${own}\nexists ${own}\n`;
      const { stdout, stderr } = await runZksh(argv, { env, input });
      expect(stderr).toMatch(/^(Created .*\n)?$/);
      const text = String(stdout);
      const seen = [...text.matchAll(/v(\d+),/g)].map(([, round]) => Number(round));
      expect(seen).toEqual(numbers(400).map((i) => Math.floor(i / 4)));
      const versions = [...text.matchAll(/dataVersion[ =]+(\d+)/g)].map(([, version]) =>
        Number(version),
      );
      expect(versions).toEqual(numbers(100).map((i) => i + 1));
    },
  );
});

describe("other servers", () => {
  test("one without multiRead is asked plainly", async () => {
    const answers = (path: string) =>
      Buffer.concat([length(path.length), Buffer.from(path), Buffer.alloc(68)]);
    const fake = await startFakeServer({
      srvr: "Zookeeper version: 3.5.10, built on some day\n",
      onRequest({ opcode, body }, reply) {
        if (opcode === 4) return reply.ok(answers(body.toString("utf8", 4, body.length - 1)));
        return opcode === 22 ? reply.close() : false;
      },
    });
    onTestFinished(() => fake.close());
    const { code, stdout, stderr } = await runZksh(["-s", fake.address], {
      input: lines(100, (i) => `get /${i}`),
    });
    expect([code, stderr, String(stdout)]).toEqual([
      0,
      "",
      numbers(100)
        .map((i) => `/${i}`)
        .join(""),
    ]);
    expect(new Set(fake.connections.flatMap(({ opcodes }) => opcodes))).toEqual(new Set([4, -11]));
  });

  test("a session that is lost fails what was under way, from its first line; the next lines get a new one", async () => {
    const address = sharedServer();
    const proxy = await startFaultProxy(Number(address.split(":")[1]));
    onTestFinished(() => proxy.close());
    const behind = server.replace(address, proxy.address);
    const zksh = startZksh(["-s", behind, "--timeout", "4s", "--keep-going"], { env: {} });
    zksh.write("get /n/1\n");
    await eventually(() => String(zksh.stdout) === "data-1,");
    proxy.blackhole();
    zksh.write(lines(3, (i) => `get /n/${i + 2}`));
    await eventually(() => zksh.stderr.includes("stdin:4: error"), { timeoutMs: 15_000 });
    proxy.heal();
    zksh.write("get /n/5\n");
    await eventually(() => String(zksh.stdout) === "data-1,data-5,", { timeoutMs: 15_000 });
    zksh.endInput();
    expect((await zksh.result).code).toBe(8);
    const failures = [...zksh.stderr.matchAll(/^stdin:(\d): error: (.*)$/gm)].map(
      ([, line, what]) => `${line} ${what}`,
    );
    expect(failures).toEqual(
      [2, 3, 4].map((line) => expect.stringMatching(`^${line} .*session has expired`)),
    );
  });
});

function length(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

describe("--keep-going", () => {
  test("a read shows nothing that a later line has written, even where it is read again", async () => {
    const chroot = await freshChroot();
    await runZksh(["create", "/d", "first"], { env: { ZKSH_SERVER: chroot } });
    const input = [
      ...numbers(50).map((i) => `set /d v${i}\nget /d`),
      // The server hangs up.
      `set /d ${"y".repeat(1_100_000)}`,
    ].join("\n");
    // Read as a whole: from a pipe the long line would come later than the answers to the others.
    const file = join(temporaryDirectory("script"), "script");
    writeFileSync(file, input);
    const { stdout } = await runZksh(["--keep-going", "-f", file], {
      env: { ZKSH_SERVER: chroot },
    });
    expect(String(stdout)).toBe(
      numbers(50)
        .map((i) => `v${i}`)
        .join(""),
    );
  });

  test("a line that is too long for the server fails alone", async () => {
    const chroot = await freshChroot();
    const long = `create /long ${"y".repeat(2_000_000)}`;
    const input = lines(41, (i) => (i === 20 ? long : `create /n${i} v`));
    const { code, stdout, stderr } = await runZksh(["--keep-going"], {
      env: { ZKSH_SERVER: chroot },
      input,
    });
    expect([code, String(stdout).trim().split("\n").length]).toEqual([8, 40]);
    expect(stderr.match(/error:/g)).toHaveLength(1);
    expect(stderr).toContain("stdin:21:");
  });

  test("bad lines without end do not keep signals waiting", async () => {
    const zksh = startZksh(["--keep-going"], { env, input: lines(500_000, () => "nonsense") });
    await eventually(() => expect(zksh.stderr).toContain("stdin:1000:"));
    zksh.kill("SIGTERM");
    const { code, stderr } = await zksh.result;
    expect(code).toBe(143);
    expect(stderr).not.toContain("stdin:500000:");
  });
});

test("a signal ends a program whose output nobody reads, and its lock is given back", async () => {
  const chroot = await freshChroot();
  const session = openFor(chroot);
  await session.create("/big", Buffer.alloc(900_000, "x"));
  const reader = spawnTracked(
    "bash",
    [
      "-c",
      `"$0" bin/zksh.js -c "lock /l; $(printf 'get /big; %.0s' 1 2 3)" | (read -r -N 1; exec sleep 60)`,
      process.execPath,
    ],
    {
      cwd: `${import.meta.dirname}/../..`,
      env: { ...process.env, ZKSH_SERVER: chroot },
      stdio: "ignore",
      detached: true,
    },
  );
  const node = await eventually(async () => {
    const [name] = await session.getChildren("/l").catch(() => []);
    return name !== undefined && `/l/${name}`;
  });
  const { data } = await session.getData(node);
  const { pid } = JSON.parse(String(data));
  // The pipe is full.
  const written = () => Number(/wchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1]);
  await eventually(() => expect(written()).toBeGreaterThan(65_536));
  process.kill(pid, "SIGTERM");
  await eventually(async () => expect(await session.getChildren("/l")).toEqual([]));
  process.kill(-(reader.pid ?? 0), "SIGKILL");
  await ended(reader);
});
