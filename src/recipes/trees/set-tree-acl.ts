/**
 * Gives a znode and everything below it one ACL. Watches nothing, makes nothing.
 *
 * While the tree is being listed, ACLs are set: each after the znode's own children are known,
 * because the new ACL may forbid to list them, and after everything below its siblings is; the root
 * first. Memory holds what the walk holds and the requests under way. Znodes that vanish meanwhile
 * are left out; znodes that appear are not looked for. A znode that is refused is reported, and the
 * others go on. Where the connection broke, what was not answered is set again: the same ACL twice
 * does no harm, unless a version was asked for. A lost session, or aborting the signal, ends the
 * work half done.
 */
import { InterruptedError, NoNodeError, type ZkshError } from "../../errors.ts";
import { joinPath } from "../../session/path.ts";
import type { Acl, Session } from "../../session/session.ts";
import {
  deepestFirst,
  inWalkOrder,
  mayHaveBeenDone,
  refusalOf,
  type TreeFailure,
} from "./tree-failures.ts";
import { treeInterrupted } from "./tree-interrupted.ts";
import { type Visit, walk } from "./walk.ts";

export interface TreeAclOptions {
  readonly signal: AbortSignal;
  /** Only where the ACL has this version. */
  readonly version?: number;
  /** Told now and then how many are changed so far. */
  readonly onProgress?: (changed: number) => void;
}

export interface TreeAclChange {
  readonly changed: number;
  /** Those whose children stayed hidden, then those that were refused, both in a walk's order. */
  readonly failures: readonly TreeFailure[];
}

const GROUP = 100;
const GROUPS_UNDER_WAY = 5;
/** Connections that may break under the same requests. */
const MAX_LOSSES = 3;

/**
 * Throws NoNodeError when there is no such znode, TreeInterruptedError with what was changed when
 * the signal is aborted, and whatever ends the session.
 */
export async function setTreeAcl(
  session: Session,
  root: string,
  acl: readonly Acl[],
  options: TreeAclOptions,
): Promise<TreeAclChange> {
  return new TreeAcl(session, root, acl, options).run();
}

class TreeAcl {
  readonly #session: Session;
  readonly #root: string;
  readonly #acl: readonly Acl[];
  readonly #options: TreeAclOptions;
  readonly #unlisted = new Map<string, ZkshError>();
  readonly #refused: TreeFailure[] = [];
  #changed = 0;
  /** In the order they were sent, until their end has been looked at. */
  readonly #underWay: Group[] = [];

  constructor(session: Session, root: string, acl: readonly Acl[], options: TreeAclOptions) {
    this.#session = session;
    this.#root = root;
    this.#acl = acl;
    this.#options = options;
  }

  async run(): Promise<TreeAclChange> {
    try {
      return await this.#run();
    } catch (error) {
      if (!(error instanceof InterruptedError)) throw error;
      const requests = this.#underWay.flatMap((group) => group.requests);
      throw await treeInterrupted(
        error,
        this.#changed,
        requests.map((outcome) => ({ outcome, znodes: 1 })),
      );
    }
  }

  async #run(): Promise<TreeAclChange> {
    for await (const paths of this.#groups()) {
      if (this.#underWay.length >= GROUPS_UNDER_WAY) await this.#finishOldest();
      this.#start(paths);
    }
    while (this.#underWay.length > 0) await this.#finishOldest();
    const unlisted = [...this.#unlisted].map(([path, error]): TreeFailure => ({ path, error }));
    const refused = this.#refused.sort((a, b) => inWalkOrder(a.path, b.path));
    return { changed: this.#changed, failures: [...unlisted, ...refused] };
  }

  /** Everything below the root; all of it has been listed. */
  async *#groups(): AsyncGenerator<string[]> {
    let group: string[] = [];
    for await (const { path, children } of deepestFirst(this.#rootFirst())) {
      for (const name of children) {
        group.push(joinPath(path, name));
        if (group.length < GROUP) continue;
        yield group;
        group = [];
      }
    }
    if (group.length > 0) yield group;
  }

  /**
   * The root alone first: an ACL that the server does not accept at all is refused once, not a
   * thousand times.
   */
  async *#rootFirst(): AsyncGenerator<Visit[]> {
    const { signal } = this.#options;
    const onFailure = (path: string, error: Error) =>
      void this.#unlisted.set(path, refusalOf(error));
    let isFirst = true;
    for await (const visits of walk(this.#session, this.#root, { signal, onFailure })) {
      if (isFirst) {
        this.#start([this.#root]);
        await this.#finishOldest();
      }
      isFirst = false;
      yield visits;
    }
  }

  #start(paths: readonly string[]): void {
    const requests = paths.map((path) => this.#setOne(path));
    this.#underWay.push({ paths, requests, outcomes: Promise.allSettled(requests) });
  }

  async #setOne(path: string): Promise<void> {
    const { signal, version } = this.#options;
    const options = { signal, ...(version !== undefined && { version }) };
    for (let losses = 0; ; losses++) {
      try {
        await this.#session.setAcl(path, this.#acl, options);
        return;
      } catch (error) {
        if (!mayHaveBeenDone(error) || version !== undefined || losses >= MAX_LOSSES) throw error;
      }
    }
  }

  async #finishOldest(): Promise<void> {
    const group = this.#underWay[0] as Group;
    const outcomes = await group.outcomes;
    for (const outcome of outcomes) {
      if (outcome.status === "rejected" && outcome.reason instanceof InterruptedError)
        throw outcome.reason;
    }
    this.#underWay.shift();
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === "fulfilled") this.#changed += 1;
      else this.#fail(group.paths[index] ?? "", refusalOf(outcome.reason));
    }
    this.#options.onProgress?.(this.#changed);
  }

  #fail(path: string, error: ZkshError): void {
    if (error.reason === "invalid-acl" && this.#changed === 0) throw error;
    if (!(error instanceof NoNodeError) && !this.#unlisted.has(path))
      this.#refused.push({ path, error });
  }
}

interface Group {
  readonly paths: readonly string[];
  readonly requests: readonly Promise<void>[];
  readonly outcomes: Promise<readonly PromiseSettledResult<void>[]>;
}
