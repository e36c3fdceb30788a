/**
 * Sets one ACL on a znode and everything below it. Sets no watches and creates no znodes.
 *
 * The ACLs are set while the walk goes on: the root first, and each other znode only after its own
 * children and everything below its siblings have been listed, because the new ACL may forbid
 * listing. Memory holds the walk and the requests under way. Znodes that are deleted meanwhile are
 * skipped; znodes that are created meanwhile are not searched for. A refused znode is reported and
 * the work continues. After a broken connection the unanswered requests are sent again: setting the
 * same ACL twice does no harm, unless a version was given. A lost session or an aborted signal ends
 * the work in the middle.
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
  /** Change only ACLs with this version. */
  readonly version?: number;
  /** Called with the number of znodes changed so far. */
  readonly onProgress?: (changed: number) => void;
}

export interface TreeAclChange {
  readonly changed: number;
  /**
   * First the znodes whose children could not be listed, then the refused ones, each in the order
   * of the walk.
   */
  readonly failures: readonly TreeFailure[];
}

const GROUP = 100;
const GROUPS_UNDER_WAY = 5;
/** How many broken connections the same requests are retried after. */
const MAX_LOSSES = 3;

/**
 * Throws NoNodeError if the root does not exist, TreeInterruptedError with the number of changed
 * znodes if the signal is aborted, and the error of a lost session.
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
  /** The sent requests in their order; one is removed when its outcome has been handled. */
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

  /** Yields the paths below the root in groups, in an order in which their ACLs can be set. */
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
   * Sets the root alone first: an ACL that the server does not accept is then refused once, not a
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
