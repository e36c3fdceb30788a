import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "./eventually.ts";
import { fourLetterWord } from "./four-letter-word.ts";
import { freePort } from "./free-port.ts";
import { ASK_AGAIN_MS, type ServerOptions, ZooKeeperServer } from "./zookeeper-server.ts";

const QUORUM_WITHIN_MS = 30_000;

export type EnsembleOptions = Omit<ServerOptions, "port">;

/** Starts `size` real servers that form one ensemble, and waits until they serve. The caller stops it. */
export async function startEnsemble(size = 3, options: EnsembleOptions = {}): Promise<Ensemble> {
  const ports = await distinctPorts(size * 3);
  const clientPorts = ports.slice(0, size);
  const members: Record<string, string> = {};
  clientPorts.forEach((port, index) => {
    const [quorum, election] = ports.slice(size + index * 2);
    // The client port stands here and not in clientPort: after a reconfig the server moves it here itself.
    members[`server.${index + 1}`] = `127.0.0.1:${quorum}:${election};127.0.0.1:${port}`;
  });

  const servers = clientPorts.map((port, index) => {
    const server = new ZooKeeperServer({
      ...options,
      config: { initLimit: "10", syncLimit: "5", ...members, ...options.config },
      port,
      isMember: true,
    });
    writeFileSync(join(server.dataDir, "myid"), String(index + 1));
    return server;
  });

  const ensemble = new Ensemble(servers);
  try {
    await Promise.all(servers.map((server) => server.start()));
    await ensemble.waitForQuorum();
  } catch (error) {
    await ensemble.stop();
    throw error;
  }
  return ensemble;
}

/** Several servers, one ZooKeeper. */
export class Ensemble {
  readonly servers: readonly ZooKeeperServer[];
  readonly connectString: string;

  constructor(servers: readonly ZooKeeperServer[]) {
    this.servers = servers;
    this.connectString = servers.map((server) => server.address).join(",");
  }

  /** The member that leads; waits for an election that is under way. */
  leader(timeoutMs = QUORUM_WITHIN_MS): Promise<ZooKeeperServer> {
    return this.#eventually(async () => (await this.#roles()).leader, timeoutMs);
  }

  /** The members that follow the leader, at least one. */
  followers(): Promise<ZooKeeperServer[]> {
    return this.#eventually(async () => (await this.#roles()).followers);
  }

  /** Waits until every member that is neither dead nor paused serves, with one leader among them. */
  async waitForQuorum(): Promise<void> {
    await this.#eventually(async () => {
      const { silent } = await this.#roles();
      if (silent.length > 0) throw new Error(`not serving: ${silent.map((server) => server.address).join(", ")}`);
    });
  }

  async stop(): Promise<void> {
    // All at once and for good: a member that loses its quorum first would only begin an election.
    await Promise.all(this.servers.map((server) => server.kill()));
    await Promise.all(this.servers.map((server) => server.stop()));
  }

  async #roles(): Promise<{ leader: ZooKeeperServer; followers: ZooKeeperServer[]; silent: ZooKeeperServer[] }> {
    const awake = this.servers.filter((server) => server.isRunning && !server.isPaused);
    const answers = await Promise.all(
      awake.map((server) => fourLetterWord(server.address, "srvr", ASK_AGAIN_MS).catch(() => "")),
    );
    const inMode = (mode: string) => awake.filter((_, index) => /Mode: (\w+)/.exec(answers[index] ?? "")?.[1] === mode);
    const [leader, second] = inMode("leader");
    const followers = inMode("follower");
    // A leader goes on believing in itself for a moment after its followers have gone.
    if (leader === undefined || second !== undefined || (1 + followers.length) * 2 <= this.servers.length) {
      throw new Error(`no quorum: ${awake.map((server, index) => `${server.address} ${answers[index]}`).join("; ")}`);
    }
    return { leader, followers, silent: awake.filter((server) => server !== leader && !followers.includes(server)) };
  }

  #eventually<T>(check: () => Promise<T>, timeoutMs = QUORUM_WITHIN_MS): Promise<T> {
    return eventually(check, { timeoutMs, message: "the ensemble does not serve" }) as Promise<T>;
  }
}

async function distinctPorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}
