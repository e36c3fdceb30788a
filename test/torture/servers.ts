import { type Ensemble, loopbackMembers, startMembers } from "../support/ensemble.ts";
import { eventually } from "../support/eventually.ts";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.ts";
import { fourLetterWord } from "../support/four-letter-word.ts";
import type { ZooKeeperServer } from "../support/zookeeper-server.ts";

const SIZE = 3;
/**
 * Ticks of half a second until a leader without followers steps down: 6 s, long enough to expire
 * the shortest sessions of the contenders (4 s) on the other side.
 */
const SYNC_LIMIT = "12";
const STEPS_DOWN_WITHIN_MS = 30_000;

/** An ensemble whose followers reach the leader through proxies, so that it can be deposed. */
export class Servers {
  readonly ensemble: Ensemble;
  /** For each server, the proxies through which the others reach its quorum port. */
  readonly #proxies: readonly (readonly FaultProxy[])[];

  private constructor(ensemble: Ensemble, proxies: readonly (readonly FaultProxy[])[]) {
    this.ensemble = ensemble;
    this.#proxies = proxies;
  }

  static async start(): Promise<Servers> {
    const members = await loopbackMembers(SIZE);
    const proxies = await Promise.all(
      members.map(({ quorumPort }) => Promise.all(members.map(() => startFaultProxy(quorumPort)))),
    );
    const ensemble = await startMembers(
      members,
      { config: { syncLimit: SYNC_LIMIT } },
      (viewer, target) => {
        const proxy = proxies[members.indexOf(target)]?.[members.indexOf(viewer)];
        return viewer === target || proxy === undefined ? target.quorumPort : proxy.port;
      },
    );
    return new Servers(ensemble, proxies);
  }

  /**
   * The followers' connections to the leader are reset, the leader hears nothing; ends when it has
   * stepped down.
   */
  async depose(leader: ZooKeeperServer): Promise<void> {
    const proxies = this.#proxies[this.ensemble.servers.indexOf(leader)] ?? [];
    try {
      await Promise.all(proxies.map((proxy) => proxy.sever()));
      await eventually(async () => !(await isLeading(leader)), {
        timeoutMs: STEPS_DOWN_WITHIN_MS,
        intervalMs: 100,
        message: `${leader.address} does not step down`,
      });
    } finally {
      for (const proxy of proxies) proxy.heal();
      await Promise.all(proxies.map((proxy) => proxy.listen()));
    }
  }

  async stop(): Promise<void> {
    await this.ensemble.stop();
    await Promise.all(this.#proxies.flat().map((proxy) => proxy.close()));
  }
}

async function isLeading(server: ZooKeeperServer): Promise<boolean> {
  return (await fourLetterWord(server.address, "srvr").catch(() => "")).includes("Mode: leader");
}
