import type { Ensemble } from "../support/ensemble.ts";
import { sleep } from "../support/eventually.ts";
import type { Contender } from "./contender.ts";
import type { Step } from "./schedule.ts";

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
  readonly #ensemble: Ensemble;
  readonly #holders: () => readonly Holder[];
  readonly #underWay = new Set<Promise<void>>();
  #isServerDown = false;

  constructor(contenders: readonly Contender[], ensemble: Ensemble, holders: () => readonly Holder[]) {
    this.#contenders = contenders;
    this.#ensemble = ensemble;
    this.#holders = holders;
  }

  /** Returns when everything has been done and undone. */
  async run(schedule: readonly Step[]): Promise<void> {
    for (const step of schedule) {
      await sleep(step.afterMs);
      const done = this.#do(step).catch((error: Error) => this.#note(`${step.fault} failed: ${error.message}`));
      this.#underWay.add(done);
      void done.finally(() => this.#underWay.delete(done));
    }
    await Promise.all(this.#underWay);
  }

  async #do(step: Step): Promise<void> {
    const { fault, lastsMs } = step;
    if (fault === "kill-leader" || fault === "restart-follower") return this.#toServer(step);

    const holders = step.aimsAtHolder ? this.#holders() : [];
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
        this.#begin(fault, `${whom} pid ${stopped.pid}${worker ? ` and ${worker}` : ""} for ${lastsMs} ms`);
        stopped.kill("SIGSTOP");
        if (worker) signal(worker, "SIGSTOP");
        await sleep(lastsMs);
        if (worker) signal(worker, "SIGCONT");
        stopped.kill("SIGCONT");
        this.#note(`${fault} of ${whom} pid ${stopped.pid} is over`);
        return;
      }
    }

    if (network.isFaulty) return;
    network.isFaulty = true;
    const proxies = fault === "blackhole-one" ? network.proxies.slice(step.server).slice(0, 1) : network.proxies;
    this.#begin(fault, `${whom} for ${lastsMs} ms`);
    for (const proxy of proxies) {
      if (fault === "delay") proxy.delay(step.delayMs);
      else if (fault === "stall") proxy.stall(["to-server", "to-client", "both"][step.server] as "both");
      else proxy.blackhole();
    }
    await sleep(lastsMs);
    network.heal();
    network.isFaulty = false;
    this.#note(`${fault} of ${whom} is over`);
  }

  /** Never two at once, and not before all have joined again. */
  async #toServer({ fault, server, lastsMs }: Step): Promise<void> {
    if (this.#isServerDown) return;
    this.#isServerDown = true;
    try {
      if (fault === "kill-leader") {
        const leader = await this.#ensemble.leader();
        this.#begin(fault, `${leader.address} for ${lastsMs} ms`);
        await leader.kill();
        await sleep(lastsMs);
        await leader.start();
      } else {
        const followers = await this.#ensemble.followers();
        const follower = followers[server % followers.length];
        this.#begin(fault, String(follower?.address));
        await follower?.restart();
      }
      await this.#ensemble.waitForQuorum();
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
