/**
 * What everything above knows of ZooKeeper: a session with promises, bigint ids, and three states.
 * The implementation over node-zookeeper-client lives in ./zookeeper/.
 */

import type { Committed, MultiOp, ReadOp, ReadResult } from "./multi.ts";

// Users of a session find all its types here.
export type * from "./multi.ts";

/**
 * `connected`: requests are answered. `suspended`: no server is answering; the session may still be alive.
 * `lost`: the session is over for good (expired, closed, refused); its ephemerals are gone or about to go.
 */
export type SessionState = "connected" | "suspended" | "lost";

/**
 * A znode's stat. Ids and zxids are bigint because they use all 64 bits; times are milliseconds
 * since the epoch.
 */
export interface Stat {
  readonly czxid: bigint;
  readonly mzxid: bigint;
  readonly ctime: number;
  readonly mtime: number;
  readonly version: number;
  readonly cversion: number;
  readonly aversion: number;
  readonly ephemeralOwner: bigint;
  readonly dataLength: number;
  readonly numChildren: number;
  readonly pzxid: bigint;
}

/** One entry of an access list; `perms` is the sum of {@link Permission} bits. */
export interface Acl {
  readonly perms: number;
  readonly scheme: string;
  readonly id: string;
}

/** The bits of {@link Acl.perms}. */
export const Permission = { read: 1, write: 2, create: 4, delete: 8, admin: 16, all: 31 } as const;

/** All permissions for every client: what zkCli uses when no ACL is given. */
export const OPEN_ACL: readonly Acl[] = [{ perms: Permission.all, scheme: "world", id: "anyone" }];

/** An identity the server has accepted for this session. */
export interface Identity {
  readonly scheme: string;
  readonly id: string;
}

/** The seven create modes by ZooKeeper's names; the value is the wire flag. */
export const CreateMode = {
  persistent: 0,
  ephemeral: 1,
  persistentSequential: 2,
  ephemeralSequential: 3,
  container: 4,
  persistentWithTtl: 5,
  persistentSequentialWithTtl: 6,
} as const;
export type CreateMode = keyof typeof CreateMode;

/**
 * What a watch reports. `lost` reaches every listener once, when the session ends with the watch
 * still set.
 */
export type WatchEventType =
  | "created"
  | "deleted"
  | "data-changed"
  | "children-changed"
  /**
   * A persistent or recursive watch was set again after a reconnect: changes below `path` since
   * `zxid` may be unreported.
   */
  | "rearmed"
  | "lost";

/** A change that a watch reports. */
export interface WatchEvent {
  readonly type: WatchEventType;
  readonly path: string;
  /** With `rearmed`: the last zxid seen before the gap. */
  readonly zxid?: bigint;
}

/** Is told the changes of a watched znode. */
export type WatchListener = (event: WatchEvent) => void;

/** `persistent`: the znode and its children; `recursive`: the znode and everything below it. */
export type PersistentWatchMode = "persistent" | "recursive";

/**
 * What a listener can be on a znode for: its data or existence, its children, or everything until
 * it is taken off.
 */
export type WatchKind = "data" | "children" | "persistent";

/** Every call takes these. */
export interface CallOptions {
  /**
   * Aborted while still queued: the request is never sent. Already written: the error's `outcome`
   * tells its fate.
   */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds this call may take. Without it the session's own clock bounds the call. */
  readonly timeoutMs?: number;
}

export interface ReadOptions extends CallOptions {
  /** Told once, of the next change (or of the session's end). */
  readonly watch?: WatchListener;
}

export interface RemoveWatchOptions extends CallOptions {
  /** Only this kind, where `persistent` leaves recursive watches alone. Left out: all. */
  readonly kind?: WatchKind | "recursive";
}

export interface CreateOptions extends CallOptions {
  readonly mode?: CreateMode;
  readonly acl?: readonly Acl[];
  /**
   * Milliseconds without a write or a child after which a TTL node may go; required by the TTL
   * modes.
   */
  readonly ttlMs?: number;
}

export interface VersionOptions extends CallOptions {
  /** Only when the znode has this version; 0 is 0. Left out: any version. */
  readonly version?: number;
}

/** The data of a znode, with the stat of the same moment. */
export interface Data {
  /** null: the znode was made without data, which zkCli tells apart from empty data. */
  readonly data: Buffer | null;
  readonly stat: Stat;
}

export interface Reconfiguration extends CallOptions {
  readonly joining?: string;
  readonly leaving?: string;
  readonly members?: string;
  readonly fromConfig?: bigint;
}

/** Why a session ended, or `undefined` while it lives. */
export type LostReason = "expired" | "closed" | "auth-failed" | "unreachable";

/** A change of {@link Session.state}. */
export interface StateChange {
  readonly state: SessionState;
  /** With `lost`: why. */
  readonly reason?: LostReason;
  /** The server attached to, when connected. */
  readonly server?: string;
}

/** Operations that some servers lack, and that something else can be done instead of. */
export type NewerOperation = "createContainer" | "multiRead";

/**
 * Calls made in one turn leave together, in their order. The exceptions are operations that older
 * servers lack (containers, multiRead, addWatch, whoAmI and the like): they first make sure that
 * the server has them, and may leave after calls made later, unless {@link Session.knows} has been
 * asked.
 *
 * @example
 * ```ts
 * const session = openSession(parseConnectString("zk1,zk2/app"));
 * session.onState(({ state }) => console.log(state));
 * const [stat, names] = await Promise.all([session.exists("/a"), session.getChildren("/")]);
 * await session.close();
 * ```
 */
export interface Session {
  readonly state: SessionState;
  /** 0n until the first server has answered. */
  readonly id: bigint;
  /** The negotiated session timeout, in milliseconds. */
  readonly timeoutMs: number;
  /** The server attached to (`host:port`), when connected. */
  readonly server: string | undefined;
  /** Attached to a read-only server: writes will be refused. */
  readonly isReadOnly: boolean;
  /**
   * The server attached to is ClickHouse Keeper, where a session ends with its connection. Undefined
   * before the first server has answered.
   */
  readonly isKeeper: boolean | undefined;
  /** The highest zxid any reply has carried. */
  readonly lastZxid: bigint;
  /** This machine's address of the present connection. Behind NAT, servers see another one. */
  readonly localAddress: string | undefined;
  /** The servers and the chroot of the session, as `parseConnectString` reads them. */
  readonly connectString: string;

  /**
   * True while ZooKeeper has no reason to expire this session, judged by clocks rather than by the
   * last state heard: false at the first look after a pause that was longer than the session could
   * live. It is no proof: a leader that has lost its followers answers for some seconds more while
   * another leader's clock runs. {@link leaseForMs} is the proof.
   */
  isAlive(): boolean;
  /**
   * Milliseconds for which {@link isAlive} will stay true if nothing is ever heard again; 0 when it
   * is already false.
   */
  aliveForMs(): number;
  /**
   * Milliseconds for which no server can have expired this session, even if nothing is ever heard
   * again: counted from the last committed transaction of which a leader with a quorum is proved to
   * have heard. 0 when that is too long ago, as it is for a session that only reads; any write
   * renews it.
   */
  leaseForMs(): number;
  /**
   * Keeps the lease up: until the returned function is called, heartbeats are committed
   * transactions that check `paths`, and the session is lost when its lease runs out. `onMissing`
   * is called when one of `paths` does not exist any more. Call it with a lease that has not run
   * out, right after a write.
   */
  keepLease(paths: readonly string[], onMissing: () => void): () => void;

  /**
   * Resolves when a server has accepted the session; rejects when none did within the connect
   * timeout.
   */
  connected(options?: CallOptions): Promise<void>;
  /**
   * Whether the server attached to has an operation. Waits for a connection as {@link connected}
   * does; asked before there is one, it costs no time of its own.
   */
  knows(operation: NewerOperation, options?: CallOptions): Promise<boolean>;
  /** Listens to state changes; returns the function that stops listening. */
  onState(listener: (change: StateChange) => void): () => void;

  /** Creates a znode, and resolves to its path: a sequential one has its number at the end. */
  create(path: string, data: Buffer | null, options?: CreateOptions): Promise<string>;
  /** As create, with the new znode's stat: one request on servers from 3.5, two before. */
  create2(
    path: string,
    data: Buffer | null,
    options?: CreateOptions,
  ): Promise<{ path: string; stat: Stat }>;
  /** Deletes a znode without children. */
  delete(path: string, options?: VersionOptions): Promise<void>;
  /** The stat, or undefined when there is no such znode (a watch is set in both cases). */
  exists(path: string, options?: ReadOptions): Promise<Stat | undefined>;
  /** Reads data and stat. */
  getData(path: string, options?: ReadOptions): Promise<Data>;
  /** Replaces the data; resolves to the new stat. */
  setData(path: string, data: Buffer | null, options?: VersionOptions): Promise<Stat>;
  /** Reads the ACL, and the stat of the same moment. */
  getAcl(path: string, options?: CallOptions): Promise<{ acl: Acl[]; stat: Stat }>;
  /** Replaces the ACL where its version (`aversion`) fits; resolves to the new stat. */
  setAcl(path: string, acl: readonly Acl[], options?: VersionOptions): Promise<Stat>;
  /** Unsorted, as the server sends them. */
  getChildren(path: string, options?: ReadOptions): Promise<string[]>;
  /** As getChildren, with the stat of the same moment. */
  getChildren2(path: string, options?: ReadOptions): Promise<{ children: string[]; stat: Stat }>;
  /** Resolves when the attached server has caught up with the leader. */
  sync(path: string, options?: CallOptions): Promise<void>;
  /**
   * All of the operations, or none. The error of a refused one names it: its path, and its index as
   * `opIndex`.
   */
  multi(ops: readonly MultiOp[], options?: CallOptions): Promise<Committed>;
  /** Many reads in one request; on servers before 3.6 the same reads one by one in one flight. */
  multiRead(ops: readonly ReadOp[], options?: CallOptions): Promise<ReadResult[]>;
  /** Proves an identity; replayed after every reconnect, before any other request. */
  addAuth(scheme: string, credential: Buffer, options?: CallOptions): Promise<void>;
  /**
   * The identities that the session's own credentials stand for, in the words of ACLs: a digest is
   * `user:hash`, never the password; of other schemes only the scheme is known, and the id is empty.
   */
  credentialIds(): Promise<Identity[]>;
  /** Sets a watch that stays: `listener` is told of every change until {@link removeWatch}. */
  addWatch(
    path: string,
    mode: PersistentWatchMode,
    listener: WatchListener,
    options?: CallOptions,
  ): Promise<void>;
  /**
   * Takes a listener off `path`, from every kind of watch; the server forgets the
   * watch with its last listener. Resolves to the kinds it was taken off; none when it was not
   * there.
   */
  removeWatch(
    path: string,
    listener: WatchListener,
    options?: RemoveWatchOptions,
  ): Promise<readonly WatchKind[]>;
  /** The ephemeral znodes of this session whose paths begin with `prefix`. */
  getEphemerals(prefix?: string, options?: CallOptions): Promise<string[]>;
  /** The number of znodes below `path`, at all depths. */
  getAllChildrenNumber(path: string, options?: CallOptions): Promise<number>;
  /** The identities that the server has accepted for this session. */
  whoAmI(options?: CallOptions): Promise<Identity[]>;
  /** Reads the configuration of the ensemble (/zookeeper/config). */
  getConfig(options?: ReadOptions): Promise<Data>;
  /** Changes the members of the ensemble; resolves to the new configuration. */
  reconfig(change: Reconfiguration): Promise<Data>;

  /**
   * Ends the session. Requests already made are finished first; closeSession leaves in the same
   * flight as they do. Never rejects: where no server can be told, ZooKeeper lets the session
   * expire.
   */
  close(): Promise<void>;
}
