/**
 * ZKSH_ONCE_SECONDS=60 npx vitest run test/e2e/once.integration.test.ts
 * lets the fleet run for so long.
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Ensemble, startEnsemble } from "../support/ensemble.ts";
import { eventually } from "../support/eventually.ts";
import { Random } from "../support/random.ts";
import { startZksh, type ZkshProcess } from "../support/zksh-process.ts";
import { Scene } from "./lock-scene.ts";

const it = test.concurrent;
const SECONDS = Number(process.env.ZKSH_ONCE_SECONDS ?? 12);
const SEED = Number(process.env.ZKSH_ONCE_SEED ?? 1);

const KEY = "/job";

const once = (...words: readonly string[]) => ["once", KEY, "--per", "week", ...words];

/** Nothing is left but the records. */
async function expectNoTicket({ session }: Scene): Promise<void> {
  await eventually(async () => expect(await session.getChildren(KEY)).toEqual(["runs"]));
}

describe("once", () => {
  it("runs the command on one host, and the other says who ran it", async (context) => {
    const scene = await Scene.at(context);
    const file = scene.file();
    const program = ["sh", "-c", `echo "$ZK_ONCE_PERIOD $ZK_ONCE_ATTEMPT" >>${file}`];
    const [one, other] = await Promise.all([
      scene.run(once("--", ...program)),
      scene.run(once("--", ...program)),
    ]);
    expect([one.code, other.code]).toEqual([0, 0]);
    const lines = readFileSync(file, "utf8").trim().split("\n");
    expect(lines).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\dT00:00:00.000Z 1$/)]);
    const said = [one.stderr, other.stderr].filter((text) => text !== "");
    expect(said).toEqual([
      expect.stringMatching(
        /^\/job is done: .* pid \d+ sh ran it .* ago \(it took .*\); the next period begins at .*Z\n$/,
      ),
    ]);
    expect((await scene.run(once("-E", "9", "--", ...program))).code).toBe(9);
    const again = await scene.run(["--json", ...once("--", ...program)]);
    expect(again.stdout.toString()).toContain('"result":"done"');
    const status = await scene.run(["once", "--status", KEY]);
    expect(status.stdout.toString()).toMatch(/^\S+Z\tok\t.* pid \d+ sh\t\S+Z\t\S+\t\d+\n$/);
  });

  it("repeats a failed run, and ends with its exit code when the retries are used up", async (context) => {
    const scene = await Scene.at(context);
    const run = (code: number) =>
      scene.run(once("--retries", "1", "--", "sh", "-c", `exit ${code}`));
    expect(await run(3)).toMatchObject({ code: 3 });
    expect(await run(4)).toMatchObject({ code: 4 });
    expect(await run(0)).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/has failed 2 times in this period, last .*: exit 4;/),
    });
    await expectNoTicket(scene);
  });

  it("is taken over when a holder is killed", async (context) => {
    const scene = await Scene.at(context);
    const options = once("--retries", "1", "--session-timeout", "4s");
    const holder = scene.start([...options, "--", "sleep", "100"]);
    await eventually(async () =>
      expect(await scene.session.getChildren(`${KEY}/runs`)).toHaveLength(1),
    );
    const waiter = scene.start([...options, "--", "true"]);
    holder.kill("SIGKILL");
    expect(await waiter.result).toMatchObject({ code: 0 });
    const { stdout } = await scene.run(["once", "--status", KEY]);
    expect(stdout.toString()).toMatch(/\tok\t.*\n.*\tcrashed\t/);
    await holder.result;
    await expectNoTicket(scene);
  });

  it.for([
    { words: ["once", KEY, "--", "true"], says: "once needs --per" },
    { words: once(), says: "no command given" },
    { words: ["once", KEY, "--per", "1", "--", "true"], says: "needs a unit" },
    { words: ["once", KEY, "--per", "10ms", "--", "true"], says: "at least 1s" },
    { words: ["once", "--status", KEY, "--", "true"], says: "--status cannot be combined" },
  ])("$words is a usage error", async ({ words, says }, context) => {
    const scene = await Scene.at(context);
    const { code, stderr } = await scene.run(words);
    expect([code, stderr]).toEqual([125, expect.stringContaining(says)]);
  });
});

describe("a fleet", () => {
  test("has one success in each period, and misses none, while holders and leaders die", async ({
    onTestFinished,
  }) => {
    const ensemble = await startEnsemble(3, { tickTime: 200 });
    onTestFinished(() => ensemble.stop());
    const fleet = new Fleet(ensemble);
    await fleet.run();
    const { successes, periods } = fleet;
    expect(periods.length).toBeGreaterThanOrEqual(SECONDS / 3 - 3);
    expect(new Set(successes).size).toBe(successes.length);
    // Of a host that was killed behind its success only the others tell.
    expect(periods.filter((period) => !fleet.isDone(period))).toEqual([]);
  });
});

const PERIOD_MS = 3_000;

/** Eight hosts that run the same job again and again, each in a process of its own. */
class Fleet {
  readonly #servers: string;
  readonly #ensemble: Ensemble;
  readonly #random = new Random(SEED);
  readonly #running = new Set<ZkshProcess>();
  /** Periods whose run ended with 0, one entry for each such run. */
  readonly #successes: number[] = [];
  /** Periods that a host found done. */
  readonly #found = new Set<number>();
  #isOver = false;

  constructor(ensemble: Ensemble) {
    this.#ensemble = ensemble;
    this.#servers = `${ensemble.connectString}/`;
  }

  get successes(): number[] {
    return [...this.#successes].sort((a, b) => a - b);
  }

  isDone(period: number): boolean {
    return this.#found.has(period) || this.#successes.includes(period);
  }

  /** All periods from the first success to the last. */
  get periods(): number[] {
    const [first = 0, ...others] = this.successes;
    const last = others.at(-1) ?? first;
    const length = (last - first) / PERIOD_MS + 1;
    return Array.from({ length }, (_, at) => first + at * PERIOD_MS);
  }

  async run(): Promise<void> {
    const end = setTimeout(() => {
      this.#isOver = true;
    }, SECONDS * 1_000);
    const hosts = Array.from({ length: 8 }, () => this.#host());
    const faults = this.#faults();
    await Promise.all([...hosts, faults]);
    clearTimeout(end);
  }

  async #host(): Promise<void> {
    while (!this.#isOver) {
      const program = ["sh", "-c", "echo $ZK_ONCE_PERIOD; sleep 0.1"];
      const words = ["--per", `${PERIOD_MS}ms`, "--retries", "99", "--session-timeout", "2s"];
      const zksh = startZksh(
        ["-s", this.#servers, "--json", "once", "/job", ...words, "--", ...program],
        {
          input: "",
          timeoutMs: 120_000,
        },
      );
      this.#running.add(zksh);
      const { code, stdout } = await zksh.result;
      this.#running.delete(zksh);
      const text = stdout.toString().trim();
      if (code !== 0) continue;
      if (text.startsWith("{")) this.#found.add(Date.parse(JSON.parse(text).run.period));
      else this.#successes.push(Date.parse(text));
    }
  }

  /** Kills a host now and then, and the leader once. */
  async #faults(): Promise<void> {
    let kills = 0;
    for (; !this.#isOver; kills++) {
      const seen = this.#successes.length;
      await eventually(() => expect(this.#isOver || this.#successes.length > seen).toBe(true), {
        timeoutMs: 60_000,
      });
      const hosts = [...this.#running];
      hosts[this.#random.index(hosts.length)]?.kill("SIGKILL");
      if (kills !== 1) continue;
      const leader = await this.#ensemble.leader();
      await leader.kill();
      await leader.restart();
    }
    expect(kills).toBeGreaterThan(1);
  }
}
