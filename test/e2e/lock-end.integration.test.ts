/**
 * How a command under a lock ends, and what is told of it; without a program, how a lock that is
 * only held ends.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { monotonicMs } from "../../src/processes/monotonic-clock.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { eventsOf, LOCK, Scene } from "./lock-scene.ts";

const it = test.concurrent;

describe("the end", () => {
  it("ends all processes first, then the ticket, then the session", async (context) => {
    const scene = await Scene.at(context);
    const { proxy, server } = await scene.network();
    const requests: { at: number; type: number }[] = [];
    proxy.onBytes = (direction, chunk) => {
      // Frames come one a chunk or several; a frame is its length, its number, its type.
      for (
        let from = 0;
        direction === "to-server" && from + 12 <= chunk.length;
        from += 4 + chunk.readInt32BE(from)
      ) {
        requests.push({ at: monotonicMs(), type: chunk.readInt32BE(from + 8) });
      }
    };
    const beat = scene.beat();
    const zksh = scene.start(
      ["lock", LOCK, "--", "sh", "-c", '"$@" & exit 4', "sh", ...beat.command()],
      { server },
    );
    await beat.started(zksh);
    await eventually(() => expect(zksh.stderr).toContain(`${LOCK} is held until the processes`));
    expect(await scene.tickets()).toHaveLength(1);
    beat.end();
    expect(await zksh.result).toMatchObject({ code: 4 });
    const [DELETE, CLOSE] = [2, -11];
    const ends = requests.filter(({ type }) => type === DELETE || type === CLOSE);
    expect(ends.map(({ type }) => type)).toEqual([DELETE, CLOSE]);
    expect(ends[0]?.at).toBeGreaterThan(beat.lastAt);
  });

  it("waits for --min-hold", async (context) => {
    const scene = await Scene.at(context);
    const ran = await scene.run(["--json", "lock", "--min-hold", "3s", LOCK, "--", "true"]);
    const at = (name: string) =>
      Date.parse(String(eventsOf(ran).find(({ event }) => event === name)?.at));
    expect(at("child_exit") - at("acquired")).toBeLessThan(2_500);
    expect(at("released") - at("acquired")).toBeGreaterThanOrEqual(2_990);
  });

  it("waits for --min-hold however long it is, but for a signal", async (context) => {
    const scene = await Scene.at(context);
    const zksh = scene.start(["--json", "lock", "--min-hold", "1000h", LOCK, "--", "true"]);
    await eventually(() => expect(zksh.stderr).toContain("child_exit"));
    const toldAt = Date.now();
    zksh.kill("SIGTERM");
    const released = eventsOf(await zksh.result).find(({ event }) => event === "released");
    expect(Date.parse(String(released?.at))).toBeGreaterThanOrEqual(toldAt);
  });

  it.for([
    {
      how: "ours",
      data: (old: string) =>
        JSON.stringify({ ...JSON.parse(old), revoke: { by: "ann", reason: "now" } }),
    },
    { how: "Curator's", data: () => "__REVOKE__" },
    { how: "the textbook's", data: () => "unlock" },
  ])(
    "a holder that gets a revoke request in the form that is $how ends with 121, and its processes with it",
    async ({ data }, context) => {
      const scene = await Scene.at(context);
      const zksh = scene.start(["lock", LOCK, "--", "sh", "-c", "sleep 100; :"]);
      const node = await scene.queue(1);
      // The shell and its sleep, zksh, the watchdog.
      await eventually(() => expect(scene.processes()).toHaveLength(4));
      const rival = await scene.rival();
      const { data: old } = await scene.session.getData(node);
      await scene.session.setData(node, Buffer.from(data(String(old))));
      const { code, stderr } = await zksh.result;
      expect([code, stderr]).toEqual([
        121,
        expect.stringMatching(/asked for \/l.*\n.*sent TERM .* asked for the lock/),
      ]);
      await rival.gotAt;
    },
  );

  it("--on-revoke ignore: goes on", async (context) => {
    const scene = await Scene.at(context);
    const { zksh, beat } = await scene.holding(["--on-revoke", "ignore"]);
    await scene.session.setData(await scene.queue(1), Buffer.from("__REVOKE__"));
    await eventually(() => expect(zksh.stderr).toContain(`asked for ${LOCK}`));
    await beat.goesOn();
    beat.end();
    expect(await zksh.result).toMatchObject({ code: 7 });
    expect(beat.signals).toEqual([]);
  });

  it("120 when the ticket is deleted, and nothing but SIGKILL", async (context) => {
    const scene = await Scene.at(context);
    const { zksh, beat } = await scene.holding();
    await scene.session.delete(await scene.queue(1));
    const { code, stderr } = await zksh.result;
    expect([code, stderr]).toEqual([
      120,
      expect.stringContaining(`lost ${LOCK}: another client deleted its znode`),
    ]);
    expect(beat.signals).toEqual([]);
  });
});

describe("--max-hold", () => {
  it("stops the command, waits for its grace, and ends with 122", async (context) => {
    const scene = await Scene.at(context);
    const file = scene.file();
    const { zksh, beat } = await scene.holding(
      ["--status-file", file, "--max-hold", "2s", "--grace", "1s"],
      { words: ["stubborn"] },
    );
    const { gotAt } = await scene.rival();
    const { code, stderr } = await zksh.result;
    expect([code, stderr]).toEqual([
      122,
      expect.stringMatching(
        /sent TERM to .*: the lock was held for the whole --max-hold\nsent KILL/,
      ),
    ]);
    expect(beat.signals).toEqual(["SIGTERM"]);
    expect(beat.lastAt).toBeLessThan(await gotAt);
    expect(withoutSteps(readFileSync(file, "utf8"))).toMatchObject({
      outcome: "max-hold",
      code: 122,
      signal: "SIGKILL",
    });
  });

  it("counts from the acquisition, and not for a command that ends before", async (context) => {
    const scene = await Scene.at(context);
    const holder = await scene.holding();
    const waiter = scene.start(["lock", "--max-hold", "10s", LOCK, "--", "sh", "-c", "exit 3"]);
    await scene.queue(2);
    holder.beat.end();
    expect(await waiter.result).toMatchObject({ code: 3 });
    await holder.zksh.result;
  });

  it("releases a lock that is held without a command", async (context) => {
    const scene = await Scene.at(context);
    const { code, stderr } = await scene.start(["lock", "--max-hold", "1s", LOCK]).result;
    expect([code, stderr]).toEqual([
      122,
      expect.stringContaining(`${LOCK} was held for 1s, the whole --max-hold: released`),
    ]);
  });

  it.for([
    { words: ["--max-hold", "0s"], says: "leaves no time" },
    { words: ["--max-hold", "1s", "--min-hold", "2s"], says: "--min-hold 2s is longer than" },
    { words: ["--max-hold", "1s", "--reentrant"], says: "cannot be combined with --reentrant" },
  ])("$words is a usage error before anything is queued", async ({ words, says }, context) => {
    const scene = await Scene.at(context);
    const { code, stderr } = await scene.run(["lock", ...words, LOCK, "--", "true"]);
    expect([code, stderr]).toEqual([125, expect.stringContaining(says)]);
  });

  it("needs a command at the prompt and in scripts", async (context) => {
    const scene = await Scene.at(context);
    const { code, stderr } = await scene.run(["-c", `lock --max-hold 1s ${LOCK}`]);
    expect([code, stderr]).toEqual([125, expect.stringContaining("--max-hold needs a command")]);
  });
});

function withoutSteps(text: string): Record<string, unknown> {
  const { steps: _, ...ending } = JSON.parse(text);
  return ending;
}

describe("--status-file", () => {
  const TOKEN = expect.stringMatching(/^\d+$/);
  const rows: {
    outcome: string;
    code: number;
    words?: string[];
    program?: string[];
    more?: object;
  }[] = [
    { outcome: "child", code: 3, program: ["sh", "-c", "exit 3"], more: { token: TOKEN } },
    {
      outcome: "child",
      code: 137,
      program: ["sh", "-c", "kill -9 $$"],
      more: { signal: "SIGKILL", token: TOKEN },
    },
    { outcome: "exec", code: 127, program: ["no-such-program"] },
    { outcome: "exec", code: 126, program: ["/etc/passwd"] },
    { outcome: "usage", code: 125, words: ["--session-timeout", "4s", "--grace", "3s"] },
  ];
  it.for(rows)(
    "$outcome $code",
    async ({ outcome, code, words = [], program = ["true"], more }, context) => {
      const scene = await Scene.at(context);
      const file = scene.file();
      expect(
        await scene.run(["lock", "--status-file", file, ...words, LOCK, "--", ...program]),
      ).toMatchObject({ code });
      const written = withoutSteps(readFileSync(file, "utf8"));
      expect(written).toEqual({ outcome, code, path: LOCK, ...more });
    },
  );

  it("has the steps of --json in short", async (context) => {
    const scene = await Scene.at(context);
    const file = scene.file();
    const holder = await scene.holding();
    const words = ["--json", "lock", "--status-file", file, LOCK, "--", "true"];
    const waiter = scene.start(words);
    await eventually(() => expect(waiter.stderr).toContain('"waiting"'));
    holder.beat.end();
    const events = eventsOf(await waiter.result).map(({ event }) => event);
    const { steps } = JSON.parse(readFileSync(file, "utf8"));
    expect(steps.map(({ event }: { event: string }) => event)).toEqual(events);
    expect(events).toEqual(
      expect.arrayContaining(["queued", "waiting", "predecessor_gone", "acquired", "released"]),
    );
    expect(steps).toContainEqual(expect.objectContaining({ event: "waiting", position: 1, of: 1 }));
    await holder.zksh.result;
  });

  it("held 0, busy 75, timeout 124, interrupted 143", async (context) => {
    const scene = await Scene.at(context);
    const status = () => {
      const file = scene.file();
      return {
        words: ["--status-file", file],
        read: () => withoutSteps(readFileSync(file, "utf8")),
      };
    };
    const [held, busy, timeout, interrupted] = [status(), status(), status(), status()];
    const holder = scene.start(["lock", ...held.words, LOCK]);
    await scene.queue(1);
    await scene.run(["lock", ...busy.words, "-n", LOCK, "--", "true"]);
    expect(busy.read()).toEqual({ outcome: "busy", code: 75, path: LOCK });
    await scene.run(["lock", ...timeout.words, "-w", "4s", LOCK, "--", "true"]);
    expect(timeout.read()).toEqual({ outcome: "timeout", code: 124, path: LOCK });
    const waiter = scene.start(["lock", ...interrupted.words, LOCK, "--", "true"]);
    await scene.queue(2);
    waiter.kill("SIGTERM");
    await waiter.result;
    expect(interrupted.read()).toEqual({ outcome: "interrupted", code: 143, path: LOCK });
    holder.endInput();
    await holder.result;
    expect(held.read()).toMatchObject({ outcome: "held", code: 0, path: LOCK });
  });

  it.for([
    {
      outcome: "lost",
      code: 120,
      more: { signal: "SIGKILL" },
      spoil: (scene: Scene, node: string) => scene.session.delete(node),
    },
    {
      outcome: "revoked",
      code: 121,
      more: {},
      spoil: (scene: Scene, node: string) => scene.session.setData(node, Buffer.from("unlock")),
    },
  ])("$outcome $code", async ({ outcome, code, more, spoil }, context) => {
    const scene = await Scene.at(context);
    const file = scene.file();
    // Not that of the program, which is 0.
    const { zksh } = await scene.holding(["--status-file", file]);
    await spoil(scene, await scene.queue(1));
    expect(await zksh.result).toMatchObject({ code });
    const written = withoutSteps(readFileSync(file, "utf8"));
    expect(written).toEqual({ outcome, code, path: LOCK, token: TOKEN, ...more });
  });

  it("says unavailable and 123 when no server answers", async (context) => {
    const scene = await Scene.at(context);
    const file = scene.file();
    const server = `127.0.0.1:${await freePort()}`;
    const words = ["--connect-timeout", "300ms", "lock", "--status-file", file, LOCK, "--", "true"];
    expect(await scene.run(words, { server })).toMatchObject({ code: 123 });
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      outcome: "unavailable",
      code: 123,
      path: LOCK,
    });
  });
});

describe("without a program", () => {
  it("the lock is held until stdin ends, and a shell can read its token", async (context) => {
    const scene = await Scene.at(context);
    const zksh = scene.start(["lock", LOCK], { env: { ZK_LOCK_HELD: "/it's\t1" } });
    const node = await scene.queue(1);
    const rival = await scene.rival();
    await eventually(() => expect(zksh.stdout).toContain("ZK_LOCK_HELD"));
    zksh.endInput();
    const { code, stdout } = await zksh.result;
    expect(code).toBe(0);
    await rival.gotAt;
    const echo =
      'eval "$(cat)"; printf "%s|%s|%s" "$ZK_LOCK_NODE" "$ZK_LOCK_TOKEN" "$ZK_LOCK_HELD"';
    const evaluated = execFileSync("sh", ["-c", echo], { input: stdout, encoding: "utf8" });
    expect(evaluated).toMatch(
      new RegExp(`^${node}\\|(\\d+)\\|/it's\t1\n/l\t\\1\texclusive\t${node}\t0x[0-9a-f]+$`),
    );
  });

  it.for([
    { code: 120, how: "lost", spoil: (scene: Scene, node: string) => scene.session.delete(node) },
    {
      code: 121,
      how: "wanted",
      spoil: (scene: Scene, node: string) => scene.session.setData(node, Buffer.from("unlock")),
    },
  ])("$code when it is $how", async ({ code, spoil }, context) => {
    const scene = await Scene.at(context);
    const zksh = scene.start(["lock", LOCK]);
    await eventually(() => expect(zksh.stdout).toContain("ZK_LOCK_HELD"));
    await spoil(scene, await scene.queue(1));
    expect(await zksh.result).toMatchObject({ code });
  });

  it("a signal S ends it with 128+S, and the lock is released", async (context) => {
    const scene = await Scene.at(context);
    const zksh = scene.start(["lock", LOCK]);
    await eventually(() => expect(zksh.stdout).toContain("ZK_LOCK_HELD"));
    const rival = await scene.rival();
    zksh.kill("SIGTERM");
    expect(await zksh.result).toMatchObject({ code: 143, signal: null });
    await rival.gotAt;
  });
});
