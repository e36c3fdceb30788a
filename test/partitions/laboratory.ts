import { type Ensemble, type Member, startMembers } from "../support/ensemble.ts";
import { eventually } from "../support/eventually.ts";
import { fourLetterWord } from "../support/four-letter-word.ts";
import type { ZooKeeperServer } from "../support/zookeeper-server.ts";
import { Network, type Place } from "./network.ts";

const [CLIENT_PORT, QUORUM_PORT, ELECTION_PORT] = [2181, 2888, 3888];

export interface EnsembleShape {
  readonly voters: number;
  readonly observers?: number;
  readonly tickMs: number;
  /** Ticks after which a leader and a follower that hear nothing give each other up. */
  readonly syncLimit: number;
  /** More lines for the configuration files. */
  readonly config?: Readonly<Record<string, string>>;
}

/** A server of the ensemble with its namespace. */
export interface Node {
  readonly server: ZooKeeperServer;
  readonly place: Place;
}

export interface Roles {
  readonly leader: Node;
  readonly followers: readonly Node[];
  readonly observers: readonly Node[];
}

/** An ensemble with each server in a namespace of its own, and two namespaces for clients. */
export class Laboratory {
  readonly network: Network;
  readonly nodes: readonly Node[];
  readonly holder: Place;
  readonly contenders: Place;
  readonly ensemble: Ensemble;

  private constructor(network: Network, ensemble: Ensemble, places: readonly Place[]) {
    this.network = network;
    this.ensemble = ensemble;
    this.nodes = ensemble.servers.map((server) => ({
      server,
      place: find(places, (place) => place.address === server.host),
    }));
    this.holder = network.add("holder");
    this.contenders = network.add("contenders");
  }

  /** Laboratories of one process need different numbers. */
  static async build(number: number, shape: EnsembleShape): Promise<Laboratory> {
    const { voters, observers = 0, tickMs, syncLimit, config } = shape;
    const network = new Network(number);
    const places = Array.from({ length: voters + observers }, (_, index) =>
      network.add(`server-${index + 1}`),
    );
    const members = places.map(
      ({ address, through }, index): Member => ({
        host: address,
        port: CLIENT_PORT,
        quorumPort: QUORUM_PORT,
        electionPort: ELECTION_PORT,
        isObserver: index >= voters,
        through,
      }),
    );
    try {
      const lines = { syncLimit: String(syncLimit), ...config };
      return new Laboratory(
        network,
        await startMembers(members, { tickTime: tickMs, config: lines }),
        places,
      );
    } catch (error) {
      network.close();
      throw error;
    }
  }

  async roles(): Promise<Roles> {
    const { ensemble } = this;
    const node = (server: ZooKeeperServer) => find(this.nodes, (one) => one.server === server);
    return {
      leader: node(await ensemble.leader()),
      followers: (await ensemble.followers()).map(node),
      observers: (await ensemble.observers()).map(node),
    };
  }

  /** Waits until `server` counts a session that comes from `place` among its connections. */
  async waitForSession(place: Place, server: ZooKeeperServer): Promise<void> {
    const hasSession = async () => {
      const lines = (await fourLetterWord(server.address, "cons")).split("\n");
      return lines.some((line) => line.includes(`/${place.address}:`) && line.includes("sid="));
    };
    await eventually(hasSession, {
      timeoutMs: 30_000,
      message: `${server.address} has no session of ${place.name}`,
    });
  }

  async close(): Promise<void> {
    await this.ensemble.stop();
    this.network.close();
  }
}

function find<One>(all: readonly One[], isIt: (one: One) => boolean): One {
  const found = all.find(isIt);
  if (found === undefined) throw new Error("the ensemble has no such server");
  return found;
}
