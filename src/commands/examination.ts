/** What `doctor` examines, one after the other: servers, clocks, the tree. */

import { type AskedServer, isKnown } from "../recipes/doctor/ask-servers.ts";
import {
  type ClockReading,
  judgeClocks,
  readClock,
  readLeaderClock,
} from "../recipes/doctor/compare-clocks.ts";
import { ServerExamination } from "../recipes/doctor/examine-servers.ts";
import { findFullQuotas, findOpenAcls, TreeWalk } from "../recipes/doctor/examine-tree.ts";
import type { Finding } from "../recipes/doctor/finding.ts";
import type { Surroundings } from "../recipes/doctor/surroundings.ts";
import type { DoctorTarget, ExaminedResult, ExaminedServer } from "../results/doctor.ts";
import { formatConnectString } from "../session/connect-string.ts";
import type { Session } from "../session/session.ts";
import { QUOTA_ROOT } from "../session/system-path.ts";
import type { Context } from "./command.ts";
import { Unreadable } from "./unreadable.ts";

interface ExaminationOptions {
  readonly target: DoctorTarget;
  readonly maxZnodes: number;
  readonly testsWrite: boolean;
  readonly maxBuffer: number | undefined;
}

export class Examination {
  readonly unreadable = new Unreadable();
  readonly #context: Context;
  readonly #options: ExaminationOptions;
  readonly #around: Surroundings;
  readonly #servers: ServerExamination;
  #walk: TreeWalk | undefined;
  #clocks = 0;

  constructor(context: Context, options: ExaminationOptions) {
    const { shell, servers, signal } = context;
    this.#context = context;
    this.#options = options;
    this.#around = {
      servers,
      signal,
      // Without a chroot: it may not exist, and quotas are outside of it.
      openSession: (of) => shell.openSession({ target: formatConnectString({ servers: of }) }),
    };
    this.#servers = new ServerExamination(this.#around, options.target.servers);
  }

  async *findings(): AsyncGenerator<Finding> {
    const { chroot } = this.#options.target;
    yield* this.#servers.findings();
    const { session, asked, lags } = this.#servers.result;
    if (session === undefined) return;
    const isThere = chroot === "" || (await session.exists(chroot, this.#around)) !== undefined;
    if (!isThere) yield { check: "chroot-missing", severity: "error", chroot };
    const current = asked.filter((one) => !lags.some((lag) => lag.asked === one));
    yield* this.#clockFindings(session, current, isThere ? chroot : "");
    yield* this.#readable(QUOTA_ROOT, findFullQuotas(session, this.#treeOptions));
    if (isThere) yield* this.#treeFindings(session, chroot || "/");
  }

  async *#clockFindings(
    session: Session,
    asked: readonly AskedServer[],
    chroot: string,
  ): AsyncGenerator<Finding> {
    const readings: ClockReading[] = [];
    for (const one of await Promise.all(
      asked.filter(isKnown).map((server) => readClock(this.#around, server)),
    )) {
      if (one !== undefined && "check" in one) yield one;
      else if (one !== undefined) readings.push(one);
    }
    if (this.#options.testsWrite) {
      const leader = asked.filter(isKnown).find(({ answer }) => answer.status.mode === "leader");
      const server = leader?.name ?? session.server ?? "leader";
      const { signal } = this.#around;
      const written = await readLeaderClock(session, chroot || "/", { server, signal });
      if (!readings.some((reading) => reading.server === server)) readings.push(written);
    }
    this.#clocks = readings.length;
    yield* judgeClocks(readings);
  }

  async *#treeFindings(session: Session, root: string): AsyncGenerator<Finding> {
    for await (const finding of this.#pathFindings(session, root)) {
      if (finding.path === undefined) yield finding;
      else yield { ...finding, path: this.#shown(finding.path) };
    }
  }

  async *#pathFindings(session: Session, root: string) {
    if (this.#options.maxZnodes > 0) {
      this.#walk = new TreeWalk(session, this.#treeOptions);
      yield* this.#readable(root, this.#walk.findings(root));
    }
    // Last: where no ACL was ever set, there is one of them for each znode at the top.
    yield* this.#readable(root, findOpenAcls(session, root, this.#treeOptions));
  }

  /** A tree whose root may not be read is named like any other branch, and the rest goes on. */
  async *#readable<F>(path: string, findings: AsyncIterable<F>): AsyncGenerator<F> {
    try {
      yield* findings;
    } catch (error) {
      this.unreadable.onFailure(this.#shown(path), error as Error);
    }
  }

  /** A path as the user types it: with the chroot taken off. */
  #shown(path: string): string {
    const { chroot } = this.#options.target;
    if (path === chroot) return "/";
    return path.startsWith(`${chroot}/`) ? path.slice(chroot.length) : path;
  }

  get #treeOptions() {
    const { output, signal } = this.#context;
    const { maxZnodes, maxBuffer } = this.#options;
    return {
      signal,
      maxZnodes,
      maxBuffer,
      onFailure: (path: string, error: Error) =>
        this.unreadable.onFailure(this.#shown(path), error),
      onProgress: (done: number) => output.onProgress?.(done, "znodes examined"),
    };
  }

  /** What was examined, when `findings` has ended. */
  result(findings: number): ExaminedResult {
    const { asked, lags } = this.#servers.result;
    const { isTls } = this.#options.target;
    const examined = asked.map((one): ExaminedServer => {
      const { name: server, isListed, answer } = one;
      const lag = lags.find((other) => other.asked === one);
      const behind = lag === undefined ? 0n : lag.leaderZxid - lag.zxid;
      return {
        server,
        isListed,
        isTls,
        isReached: isReached(one),
        lag: behind,
        ...figuresOf(answer),
      };
    });
    return {
      kind: "examined",
      servers: examined,
      ...(this.#walk && { znodes: this.#walk.znodes }),
      isWholeTree: this.#walk?.isComplete ?? true,
      unreadable: this.unreadable.count,
      clocks: this.#clocks,
      findings,
    };
  }

  async close(): Promise<void> {
    await this.#servers.result.session?.close();
  }
}

/** Even a server that speaks only TLS is there. */
function isReached({ answer }: AskedServer): boolean {
  if (answer.kind === "no-address") return false;
  if (answer.kind !== "failed") return true;
  return !["dns", "refused", "unreachable"].includes(answer.why);
}

function figuresOf(answer: AskedServer["answer"]): Partial<ExaminedServer> {
  if (answer.kind !== "status") return {};
  const { release, mode, latency, zxid, outstanding } = answer.status;
  return { release, mode, latency, zxid, outstanding, roundTripMs: answer.ms };
}
