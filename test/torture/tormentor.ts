import { readFileSync } from "node:fs";
import { eventually, sleep } from "../support/eventually.ts";
import type { ZkshProcess } from "../support/zksh-process.ts";
import type { Contender } from "./contender.ts";
import type { Step } from "./schedule.ts";
import type { Servers } from "./servers.ts";

/** A grant that comes later than this is not waited for. */
const GRANT_WITHIN_MS = 30_000;
/** A killed watchdog is replaced within this time, also on a busy machine. */
const NEW_WATCHDOG_WITHIN_MS = 3_000;
/** What a new watchdog needs from its start until it is armed. */
const ARMED_WITHIN_MS = 1_000;

export interface Happening {
  /** On the log's clock. */
  readonly atNs: bigint;
  readonly text: string;
}

/** Whoever is at work under the lock now, and the process that works. */
export interface Holder {
  readonly contender: Contender;
  readonly pid: number;
}

/** Carries a schedule out. Whatever it does, it undoes. */
export class Tormentor {
  readonly happenings: Happening[] = [];
  readonly counts = new Map<string, number>();
  readonly #contenders: readonly Contender[];
  readonly #servers: Servers;
  readonly #holders: () => readonly Holder[];
  readonly #underWay = new Set<Promise<void>>();
  /** Those that wait for a contender to be granted the lock, one for each grant. */
  readonly #awaitGrant: ((contender: Contender) => void)[] = [];
  #isServerDown = false;

  constructor(
    contenders: readonly Contender[],
    servers: Servers,
    holders: () => readonly Holder[],
  ) {
    this.#contenders = contenders;
    this.#servers = servers;
    this.#holders = holders;
    for (const contender of contenders)
      contender.onGrant = () => this.#awaitGrant.shift()?.(contender);
  }

  /** Returns when everything has been done and undone. */
  async run(schedule: readonly Step[]): Promise<void> {
    for (const step of schedule) {
      await sleep(step.afterMs);
      const done = this.#do(step).catch((error: Error) =>
        this.#note(`${step.fault} failed: ${error.message}`),
      );
      this.#underWay.add(done);
      void done.finally(() => this.#underWay.delete(done));
    }
    await Promise.all(this.#underWay);
  }

  async #do(step: Step): Promise<void> {
    const { fault, lastsMs } = step;
    if (fault === "kill-leader" || fault === "restart-follower" || fault === "depose-leader")
      return this.#toServer(step);
    if (fault === "stop-at-start") return this.#stopAtStart(step);

    // Only a holder has a watchdog.
    const holders = step.aimsAtHolder || fault === "kill-watchdog" ? this.#holders() : [];
    const holder = holders[step.victim % Math.max(1, holders.length)];
    const victim = holder?.contender ?? this.#contenders[step.victim];
    if (victim === undefined) throw new Error(`there is no process ${step.victim}`);
    const whom = `${victim.name}${holder ? " (holds)" : ""}`;
    const { network } = victim;

    switch (fault) {
      case "drop":
        this.#begin(fault, whom);
        for (const proxy of network.proxies) proxy.drop();
        return;
      case "kill-9":
        if (victim.process === undefined) return;
        this.#begin(fault, `${whom} pid ${victim.process.pid}`);
        victim.process.kill("SIGKILL");
        return;
      case "stop-zksh":
      case "stop-both": {
        const { process: stopped } = victim;
        if (stopped === undefined) return;
        const worker = fault === "stop-both" ? holder?.pid : undefined;
        this.#begin(
          fault,
          `${whom} pid ${stopped.pid}${worker ? ` and ${worker}` : ""} for ${lastsMs} ms`,
        );
        stopped.kill("SIGSTOP");
        if (worker) signal(worker, "SIGSTOP");
        await sleep(lastsMs);
        if (worker) signal(worker, "SIGCONT");
        stopped.kill("SIGCONT");
        this.#note(`${fault} of ${whom} pid ${stopped.pid} is over`);
        return;
      }
      case "kill-watchdog":
        return this.#killWatchdog(victim.process, whom, lastsMs);
    }

    if (network.isFaulty) return;
    network.isFaulty = true;
    const proxies =
      fault === "blackhole-one" ? network.proxies.slice(step.server).slice(0, 1) : network.proxies;
    this.#begin(fault, `${whom} for ${lastsMs} ms`);
    for (const proxy of proxies) {
      if (fault === "delay") proxy.delay(step.delayMs);
      else if (fault === "stall")
        proxy.stall(["to-server", "to-client", "both"][step.server] as "both");
      else proxy.blackhole();
    }
    await sleep(lastsMs);
    network.heal();
    network.isFaulty = false;
    this.#note(`${fault} of ${whom} is over`);
  }

  /** The contender that is granted the lock next, whichever that is: all wait for the same one. */
  async #stopAtStart({ startMs, lastsMs }: Step): Promise<void> {
    const contender = await this.#nextGrant();
    if (startMs > 0) await sleep(startMs);
    const stopped = contender?.process;
    if (contender === undefined || stopped === undefined) return;
    stopped.kill("SIGSTOP");
    this.#begin(
      "stop-at-start",
      `${contender.name} pid ${stopped.pid} after ${startMs} ms for ${lastsMs} ms`,
    );
    await sleep(lastsMs);
    stopped.kill("SIGCONT");
    this.#note(`stop-at-start of ${contender.name} pid ${stopped.pid} is over`);
  }

  #nextGrant(): Promise<Contender | undefined> {
    return new Promise((resolve) => {
      this.#awaitGrant.push(resolve);
      setTimeout(() => resolve(undefined), GRANT_WITHIN_MS);
    });
  }

  async #killWatchdog(zksh: ZkshProcess | undefined, whom: string, lastsMs: number): Promise<void> {
    const killed = zksh && watchdogOf(zksh.pid);
    if (zksh === undefined || killed === undefined) return;
    this.#begin(
      "kill-watchdog",
      `${killed} of ${whom} pid ${zksh.pid}, then stopped for ${lastsMs} ms`,
    );
    signal(killed, "SIGKILL");
    const isReplaced = () => ![undefined, killed].includes(watchdogOf(zksh.pid));
    await eventually(isReplaced, { timeoutMs: NEW_WATCHDOG_WITHIN_MS, intervalMs: 50 }).catch(
      () => {},
    );
    await sleep(ARMED_WITHIN_MS);
    zksh.kill("SIGSTOP");
    await sleep(lastsMs);
    zksh.kill("SIGCONT");
    this.#note(`kill-watchdog of ${whom} pid ${zksh.pid} is over`);
  }

  /** Never two at once, and not before all have joined again. */
  async #toServer({ fault, server, lastsMs }: Step): Promise<void> {
    if (this.#isServerDown) return;
    this.#isServerDown = true;
    const { ensemble } = this.#servers;
    try {
      if (fault === "depose-leader") {
        const leader = await ensemble.leader();
        this.#begin(fault, leader.address);
        await this.#servers.depose(leader);
      } else if (fault === "kill-leader") {
        const leader = await ensemble.leader();
        this.#begin(fault, `${leader.address} for ${lastsMs} ms`);
        await leader.kill();
        await sleep(lastsMs);
        await leader.start();
      } else {
        const followers = await ensemble.followers();
        const follower = followers[server % followers.length];
        this.#begin(fault, String(follower?.address));
        await follower?.restart();
      }
      await ensemble.waitForQuorum();
      this.#note(`${fault} is over`);
    } finally {
      this.#isServerDown = false;
    }
  }

  #begin(fault: string, whom: string): void {
    this.counts.set(fault, (this.counts.get(fault) ?? 0) + 1);
    this.#note(`${fault} ${whom}`);
  }

  #note(text: string): void {
    this.happenings.push({ atNs: process.hrtime.bigint(), text });
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
}

/** The process id of zksh's watchdog: the child that runs watchdog.cjs. */
function watchdogOf(pid: number): number | undefined {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    const isWatchdog = (child: string) =>
      readFileSync(`/proc/${child}/cmdline`, "utf8").includes("watchdog.cjs");
    return children.filter((child) => child !== "" && isWatchdog(child)).map(Number)[0];
  } catch {
    // One of them has ended meanwhile.
    return undefined;
  }
}
