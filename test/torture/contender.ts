import type { Kind } from "../support/exclusion-log.ts";
import { workCommand } from "../support/peers.ts";
import type { Random } from "../support/random.ts";
import { startZksh, type ZkshProcess } from "../support/zksh-process.ts";
import type { Network } from "./network.ts";

export type RecipeName = "lock" | "rwlock" | "sem";

/** Permits of the semaphore. */
export const LIMIT = 2;

export interface ContenderOptions {
  readonly name: string;
  readonly recipe: RecipeName;
  readonly path: string;
  readonly log: string;
  readonly network: Network;
  readonly random: Random;
  /** For its processes and theirs. */
  readonly env: Readonly<Record<string, string>>;
  /** Longer than anything can take: a process that is still there then is stuck. */
  readonly timeoutMs: number;
  /** Takes the place of zksh. */
  readonly program?: string;
}

/** How one of its processes ended. */
export interface End {
  readonly contender: string;
  readonly pid: number;
  /** An exit code, or the name of a signal. */
  readonly outcome: string;
  readonly stderr: string;
  /** On the log's clock. */
  readonly atNs: bigint;
}

/** Loops `zksh lock PATH -- work`, whatever becomes of each. */
export class Contender {
  readonly name: string;
  readonly network: Network;
  /** How its processes ended. */
  readonly ends: End[] = [];
  /** How often its work was done to the end. */
  completed = 0;
  /** Nothing fails any more: only short work from now on. */
  isCalm = false;
  /** How often zksh has said that it was granted the lock. */
  grants = 0;
  /** Called at each grant. */
  onGrant: (() => void) | undefined;
  readonly #options: ContenderOptions;
  #process: ZkshProcess | undefined;

  constructor(options: ContenderOptions) {
    this.#options = options;
    this.name = options.name;
    this.network = options.network;
  }

  /** The process of this turn; undefined between two turns. */
  get process(): ZkshProcess | undefined {
    return this.#process;
  }

  async loopUntil(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const { path, env, timeoutMs, network, program } = this.#options;
      const { words, kind } = this.#turn();
      // Talkative: what it says is shown when it ends as it should not.
      const args = ["-v", "-s", network.connectString, ...words, path, "--", ...this.#work(kind)];
      const onStderr = (text: string) => {
        if (!text.includes("acquired ")) return;
        this.grants++;
        this.onGrant?.();
      };
      this.#process = startZksh(args, {
        input: "",
        env,
        timeoutMs,
        onStderr,
        ...(program && { program }),
      });
      const { pid, result } = this.#process;
      const { code, signal, stderr } = await result;
      this.#process = undefined;
      if (code === 0) this.completed++;
      const [outcome, atNs] = [String(code ?? signal), process.hrtime.bigint()];
      this.ends.push({ contender: this.name, pid, outcome, stderr, atNs });
    }
  }

  #turn(): { words: string[]; kind: Kind } {
    const { recipe, random } = this.#options;
    const timeout = ["--session-timeout", `${Math.round(random.between(4_000, 6_000))}ms`];
    const isReader = random.chance(0.6);
    if (recipe === "lock") return { words: ["lock", ...timeout], kind: "exclusive" };
    if (recipe === "sem")
      return { words: ["sem", "--limit", String(LIMIT), ...timeout], kind: "permit" };
    return {
      words: ["rwlock", isReader ? "read" : "write", ...timeout],
      kind: isReader ? "read" : "write",
    };
  }

  /**
   * Mostly short, now and then longer than a session and a deposed leader live, and not always
   * obedient.
   */
  #work(kind: Kind): string[] {
    const { log, random } = this.#options;
    const length = random.weighted({ short: 75, middle: 15, long: 10 });
    const seconds = {
      short: random.between(0.002, 0.03),
      middle: random.between(0.1, 1),
      long: random.between(2, 12),
    };
    return workCommand(
      log,
      this.name,
      kind,
      seconds[this.isCalm ? "short" : length],
      random.chance(0.25),
    );
  }
}
