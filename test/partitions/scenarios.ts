import { sleep } from "../support/eventually.ts";
import type { Random } from "../support/random.ts";
import type { EnsembleShape, Laboratory, Node, Roles } from "./laboratory.ts";

/** What a fault is done with. */
interface Scene extends Roles {
  readonly lab: Laboratory;
  readonly random: Random;
}

export interface Scenario {
  readonly name: string;
  /** One line for the list of scenarios. */
  readonly text: string;
  readonly ensemble: EnsembleShape;
  /** The session timeout that the holder asks for. */
  readonly sessionMs: number;
  /** How long the holder's command works when it is not stopped. */
  readonly workSeconds: number;
  /** The servers that the holder and the contenders are given. */
  readonly holderAt: (roles: Roles) => readonly Node[];
  readonly contendersAt: (roles: Roles) => readonly Node[];
  /** Prepares servers and network before the holder starts. */
  readonly prepare?: (scene: Scene) => Promise<void>;
  /**
   * Leads up to the fault while the holder works; the clock of the round's figures starts
   * afterwards.
   */
  readonly before?: (scene: Scene) => Promise<void>;
  /** The fault; what it leaves broken is mended when the round is over. */
  readonly fault: (scene: Scene) => void | Promise<void>;
  /** What must become of the holder's command; without it, both are right. */
  readonly commandMust?: "be stopped" | "end by itself";
  /** Rounds of a run without --rounds, which is what CI does; 0: only by hand. */
  readonly rounds: number;
}

const places = (nodes: readonly Node[]) => nodes.map(({ place }) => place);
const everywhere = ({ leader, followers, observers }: Roles) => [
  leader,
  ...followers,
  ...observers,
];
const atLeader = ({ leader }: Roles) => [leader];
const atFollowers = ({ followers }: Roles) => followers;

/** The ensemble of the first report: 10 s until a leader without followers steps down. */
const SLOW = { voters: 3, tickMs: 2_000, syncLimit: 5 };
/** Followers give a silent leader up after 2 s. */
const QUICK = { voters: 3, tickMs: 1_000, syncLimit: 2 };

/**
 * What most scenarios have in common: the holder is at the leader, the contenders at its followers.
 */
const usual = {
  ensemble: SLOW,
  sessionMs: 10_000,
  workSeconds: 60,
  holderAt: atLeader,
  contendersAt: atFollowers,
};

/** The holder reaches only servers without a quorum: its command must not live to its end. */
const deposed = { ...usual, commandMust: "be stopped" } as const;

const rejectLeader = ({ lab, leader, followers }: Scene) =>
  lab.network.reject(places(followers), [leader.place]);

/** Followers first, as one does it by hand. */
async function rollingRestart({ lab, leader, followers, observers }: Scene): Promise<void> {
  for (const { server } of [...observers, ...followers, leader]) {
    await server.restart();
    await lab.ensemble.waitForQuorum();
  }
}

/**
 * The second follower gets another limit; the holder reaches only the first one, until it is moved.
 */
async function limitSecondFollower(
  { lab, followers }: Scene,
  maxSessionTimeout: string,
): Promise<void> {
  const [, second] = followers;
  second?.server.configure({ maxSessionTimeout });
  await second?.server.restart();
  await lab.ensemble.waitForQuorum();
  lab.network.reject([lab.holder], places(followers.slice(1)));
}

/** The holder loses the first follower and finds the second one. */
async function moveHolder({ lab, followers }: Scene): Promise<void> {
  lab.holder.heal();
  lab.network.reject([lab.holder], places(followers.slice(0, 1)));
  for (const { server } of followers.slice(1)) await lab.waitForSession(lab.holder, server);
}

export const scenarios: readonly Scenario[] = [
  {
    ...deposed,
    name: "reject-leader",
    text: "the followers' firewall rejects the leader; session 10 s",
    fault: rejectLeader,
    rounds: 2,
  },
  {
    ...deposed,
    name: "reject-leader-4s",
    text: "the same; session 4 s",
    sessionMs: 4_000,
    fault: rejectLeader,
    rounds: 1,
  },
  {
    ...deposed,
    name: "reject-leader-30s",
    text: "the same; session 30 s, syncLimit 10",
    ensemble: { ...SLOW, syncLimit: 10 },
    sessionMs: 30_000,
    workSeconds: 90,
    fault: rejectLeader,
    rounds: 1,
  },
  {
    ...deposed,
    name: "restart-followers",
    text: "the leader's packets are dropped and the followers restarted",
    fault: async ({ lab, leader, followers }) => {
      lab.network.drop([leader.place], places(followers));
      await Promise.all(followers.map(({ server }) => server.kill()));
      await Promise.all(followers.map(({ server }) => server.start()));
    },
    rounds: 1,
  },
  {
    ...deposed,
    name: "drop-leader",
    text: "packets between the leader and its followers are dropped",
    fault: ({ lab, leader, followers }) => lab.network.drop([leader.place], places(followers)),
    rounds: 1,
  },
  {
    ...deposed,
    name: "five-servers",
    text: "five servers; the leader and the follower of the holder are rejected by the other three",
    ensemble: { ...SLOW, voters: 5 },
    holderAt: ({ followers }) => followers.slice(0, 1),
    contendersAt: ({ followers }) => followers.slice(1),
    fault: ({ lab, leader, followers }) =>
      lab.network.reject(places(followers.slice(1)), places([leader, ...followers.slice(0, 1)])),
    rounds: 1,
  },
  {
    ...deposed,
    name: "observer",
    text: "the holder is at an observer that stays with the rejected leader",
    ensemble: { ...SLOW, observers: 1 },
    holderAt: ({ observers }) => observers,
    fault: ({ lab, leader, followers, observers }) =>
      lab.network.reject(places(followers), places([leader, ...observers])),
    rounds: 1,
  },
  {
    ...deposed,
    name: "follower-cut-off",
    text: "the holder is at a follower that no longer reaches the other servers",
    holderAt: ({ followers }) => followers.slice(0, 1),
    contendersAt: ({ leader, followers }) => [leader, ...followers.slice(1)],
    fault: ({ lab, leader, followers }) =>
      lab.network.drop(places(followers.slice(0, 1)), places([leader, ...followers.slice(1)])),
    rounds: 1,
  },
  {
    ...deposed,
    name: "deaf-leader",
    text: "one way: the leader hears nothing from its followers",
    ensemble: QUICK,
    fault: ({ lab, leader, followers }) =>
      lab.network.dropOneWay(places(followers), [leader.place]),
    rounds: 1,
  },
  {
    ...deposed,
    name: "mute-leader",
    text: "one way: the followers hear nothing from the leader",
    ensemble: QUICK,
    fault: ({ lab, leader, followers }) =>
      lab.network.dropOneWay([leader.place], places(followers)),
    rounds: 1,
  },
  {
    ...usual,
    name: "pause-leader",
    text: "the leader is stopped (SIGSTOP) for 3 to 8 s and continued, another one is elected meanwhile",
    ensemble: QUICK,
    workSeconds: 30,
    fault: async ({ leader, random }) => {
      leader.server.pause();
      await sleep(random.between(3_000, 8_000));
      leader.server.resume();
    },
    rounds: 2,
  },
  {
    ...usual,
    name: "loss",
    text: "each packet is lost with a probability of 30 %, for 20 s; the holder is at a follower",
    holderAt: ({ followers }) => followers.slice(0, 1),
    contendersAt: everywhere,
    workSeconds: 30,
    fault: async ({ lab }) => {
      lab.network.lose(30);
      await sleep(20_000);
      lab.network.heal();
    },
    rounds: 1,
  },
  {
    ...usual,
    name: "rolling-restart",
    text: "each server is restarted, the leader last",
    ensemble: QUICK,
    workSeconds: 20,
    holderAt: everywhere,
    contendersAt: everywhere,
    fault: rollingRestart,
    rounds: 1,
  },
  {
    ...usual,
    name: "power-cycle",
    text: "all servers are killed (-9) and started again up to 4 s later",
    ensemble: QUICK,
    workSeconds: 30,
    holderAt: everywhere,
    contendersAt: everywhere,
    fault: async ({ lab, random }) => {
      await Promise.all(lab.nodes.map(({ server }) => server.kill()));
      await sleep(random.between(0, 4_000));
      await Promise.all(lab.nodes.map(({ server }) => server.start()));
    },
    rounds: 1,
  },
  {
    ...deposed,
    name: "timeout-grows",
    text: "granted 10 s of 30; a server with a higher limit then grants 30; the leader dies and the holder is cut off",
    ensemble: { ...QUICK, config: { maxSessionTimeout: "10000" } },
    sessionMs: 30_000,
    holderAt: atFollowers,
    contendersAt: everywhere,
    prepare: (scene) => limitSecondFollower(scene, "40000"),
    before: async (scene) => {
      await moveHolder(scene);
      // Long enough for three heartbeats of a 30 s session, on which such a lease would rest.
      await sleep(13_000);
    },
    fault: async ({ lab, leader }) => {
      lab.network.drop([lab.holder], places(lab.nodes));
      await leader.server.kill();
    },
    rounds: 1,
  },
  {
    ...usual,
    name: "timeout-shrinks",
    text: "granted 30 s; the next server grants 6 s: the command must not be stopped",
    ensemble: QUICK,
    sessionMs: 30_000,
    workSeconds: 30,
    holderAt: atFollowers,
    contendersAt: everywhere,
    prepare: (scene) => limitSecondFollower(scene, "6000"),
    fault: moveHolder,
    commandMust: "end by itself",
    rounds: 1,
  },
];
