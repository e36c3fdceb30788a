import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "./eventually.ts";
import { fourLetterWord } from "./four-letter-word.ts";
import { freePort } from "./free-port.ts";
import { ASK_AGAIN_MS, type ServerOptions, ZooKeeperServer } from "./zookeeper-server.ts";

const QUORUM_WITHIN_MS = 90_000;

export type EnsembleOptions = Omit<ServerOptions, "port">;

/** Where one server of an ensemble listens, and what it is. */
export interface Member {
  readonly host: string;
  readonly port: number;
  readonly quorumPort: number;
  readonly electionPort: number;
  /** Follows the leader and serves clients, but has no vote. */
  readonly isObserver?: boolean;
  /** See {@link ZooKeeperServer}: a command in front of the server's own. */
  readonly through?: readonly string[];
}

/**
 * The port at which the server `viewer` finds the quorum port of the server `target`: a proxy may
 * stand between.
 */
export type QuorumPort = (viewer: Member, target: Member) => number;

/**
 * Starts `size` real servers that form one ensemble, and waits until they serve. The caller stops
 * it.
 */
export async function startEnsemble(size = 3, options: EnsembleOptions = {}): Promise<Ensemble> {
  return startMembers(await loopbackMembers(size), options);
}

/** Free ports of 127.0.0.1 for `size` servers. */
export async function loopbackMembers(size: number): Promise<Member[]> {
  const ports = await distinctPorts(size * 3);
  return Array.from({ length: size }, (_, index) => {
    const [port = 0, quorumPort = 0, electionPort = 0] = ports.slice(index * 3);
    return { host: "127.0.0.1", port, quorumPort, electionPort };
  });
}

/** Starts these servers as one ensemble, and waits until they serve. The caller stops it. */
export async function startMembers(
  members: readonly Member[],
  options: EnsembleOptions = {},
  quorumPort: QuorumPort = (_, target) => target.quorumPort,
): Promise<Ensemble> {
  const servers = members.map((member, index) => {
    const { host, port, through, isObserver } = member;
    const lines = Object.fromEntries(
      members.map((target, at) => [
        `server.${at + 1}`,
        memberLine(target, quorumPort(member, target)),
      ]),
    );
    const server = new ZooKeeperServer({
      ...options,
      config: {
        initLimit: "10",
        syncLimit: "5",
        ...lines,
        ...(isObserver && { peerType: "observer" }),
        ...options.config,
      },
      host,
      port,
      ...(through && { through }),
      isMember: true,
    });
    writeFileSync(join(server.dataDir, "myid"), String(index + 1));
    return server;
  });

  const ensemble = new Ensemble(servers, members.filter(({ isObserver }) => !isObserver).length);
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
  readonly #voters: number;

  constructor(servers: readonly ZooKeeperServer[], voters = servers.length) {
    this.servers = servers;
    this.connectString = servers.map((server) => server.address).join(",");
    this.#voters = voters;
  }

  /** The member that leads; waits for an election that is under way. */
  leader(timeoutMs = QUORUM_WITHIN_MS): Promise<ZooKeeperServer> {
    return this.#eventually(async () => (await this.#roles()).leader, timeoutMs);
  }

  /** The members that follow the leader, at least one. */
  followers(): Promise<ZooKeeperServer[]> {
    return this.#eventually(async () => (await this.#roles()).followers);
  }

  /** The members without a vote. */
  async observers(): Promise<ZooKeeperServer[]> {
    return this.#eventually(async () => (await this.#roles()).observers);
  }

  /**
   * Waits until every member that is neither dead nor paused serves, with one leader among them.
   */
  async waitForQuorum(): Promise<void> {
    await this.#eventually(async () => {
      const { silent } = await this.#roles();
      if (silent.length > 0)
        throw new Error(`not serving: ${silent.map((server) => server.address).join(", ")}`);
    });
  }

  async stop(): Promise<void> {
    // All at once and for good: a member that loses its quorum first would only begin an election.
    await Promise.all(this.servers.map((server) => server.kill()));
    await Promise.all(this.servers.map((server) => server.stop()));
  }

  async #roles(): Promise<Roles> {
    const awake = this.servers.filter((server) => server.isRunning && !server.isPaused);
    const answers = await Promise.all(
      awake.map((server) => fourLetterWord(server.address, "srvr", ASK_AGAIN_MS).catch(() => "")),
    );
    const inMode = (mode: string) =>
      awake.filter((_, index) => /Mode: (\w+)/.exec(answers[index] ?? "")?.[1] === mode);
    const [leader, second] = inMode("leader");
    const followers = inMode("follower");
    const observers = inMode("observer");
    // A leader goes on believing in itself for a moment after its followers have gone.
    if (
      leader === undefined ||
      second !== undefined ||
      (1 + followers.length) * 2 <= this.#voters
    ) {
      throw new Error(
        `no quorum: ${awake.map((server, index) => `${server.address} ${answers[index]}`).join("; ")}`,
      );
    }
    const serving = [leader, ...followers, ...observers];
    return {
      leader,
      followers,
      observers,
      silent: awake.filter((server) => !serving.includes(server)),
    };
  }

  #eventually<T>(check: () => Promise<T>, timeoutMs = QUORUM_WITHIN_MS): Promise<T> {
    return eventually(check, { timeoutMs, message: "the ensemble does not serve" }) as Promise<T>;
  }
}

interface Roles {
  readonly leader: ZooKeeperServer;
  readonly followers: ZooKeeperServer[];
  readonly observers: ZooKeeperServer[];
  readonly silent: ZooKeeperServer[];
}

function memberLine({ host, port, electionPort, isObserver }: Member, quorumPort: number): string {
  // The client port stands here and not in clientPort: after a reconfig the server moves it here
  // itself.
  return `${host}:${quorumPort}:${electionPort}${isObserver ? ":observer" : ""};${host}:${port}`;
}

async function distinctPorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}
