/**
 * Looks for wide parents, large znodes, open ACLs and quotas near their limits. Reads only, and no
 * more znodes than it is told: memory holds a few replies, never the tree.
 */
import { NoNodeError } from "../../errors.ts";
import { JUTE_MAXBUFFER, NEAR_LIMIT } from "../../session/jute-maxbuffer.ts";
import { joinPath } from "../../session/path.ts";
import { type QuotaNumbers, quotaPath } from "../../session/quota.ts";
import { type Acl, Permission, type Session } from "../../session/session.ts";
import { isKeeperPath, isSystemPath, QUOTA_ROOT } from "../../session/system-path.ts";
import { readQuota } from "../quota.ts";
import { type ChildList, ChildLists } from "../trees/child-lists.ts";
import { readTree, treePaths } from "../trees/read-tree.ts";
import { LatestTime } from "./compare-clocks.ts";
import type { ClockFinding, OpenAclFinding, QuotaFinding, SizeFinding } from "./finding.ts";

/** Listing so many takes long, and each listing of all of them costs every client as much. */
const WIDE_FROM = 10_000;
const QUOTA_NEAR_PERCENT = 90n;
/** Of znodes at the top, and of quotas. */
const MAX_EXAMINED = 10_000;
const AT_A_TIME = 64;

export interface TreeOptions {
  readonly signal: AbortSignal;
  readonly maxZnodes: number;
  /** jute.maxbuffer of the servers, where it is not the default. */
  readonly maxBuffer?: number | undefined;
  readonly onFailure: (path: string, error: Error) => void;
  readonly onProgress?: ((znodes: number) => void) | undefined;
}

/** One walk over a tree. What it has counted is right when `findings` has ended. */
export class TreeWalk {
  znodes = 0;
  /** False if there are more than `maxZnodes`. */
  isComplete = true;
  readonly #session: Session;
  readonly #options: TreeOptions;
  readonly #limit: number;

  constructor(session: Session, options: TreeOptions) {
    this.#session = session;
    this.#options = options;
    this.#limit = options.maxBuffer ?? JUTE_MAXBUFFER;
  }

  async *findings(root: string): AsyncGenerator<SizeFinding | ClockFinding> {
    const { signal, maxZnodes, onFailure, onProgress } = this.#options;
    const lists = new ChildLists();
    const latest = new LatestTime();
    const entries = readTree(this.#session, root, { signal, onFailure, statsOnly: true });
    for await (const piece of entries) {
      for (const { path, stat } of piece) {
        if (this.znodes >= maxZnodes) {
          this.isComplete = false;
          break;
        }
        this.znodes += 1;
        if (isSystemPath(path) || (this.#session.isKeeper && isKeeperPath(path))) continue;
        latest.add(path, stat);
        if (stat.dataLength > this.#limit * NEAR_LIMIT) yield this.#large(path, stat.dataLength);
        for (const list of lists.add(path, stat)) yield* this.#wide(list, list.bytes);
      }
      onProgress?.(this.znodes);
      if (!this.isComplete) break;
      signal.throwIfAborted();
    }
    for (const list of lists.end())
      yield* this.#wide(list, this.isComplete ? list.bytes : undefined);
    yield* latest.findings(Date.now());
  }

  #large(path: string, bytes: number): SizeFinding {
    return {
      check: "large-znode",
      severity: this.#severityOf(bytes),
      path,
      bytes,
      limit: this.#limit,
    };
  }

  *#wide({ path, children }: ChildList, bytes: number | undefined): Generator<SizeFinding> {
    if (children < WIDE_FROM && (bytes ?? 0) <= this.#limit * NEAR_LIMIT) return;
    yield {
      check: "wide-parent",
      severity: this.#severityOf(bytes ?? 0),
      path,
      children,
      ...(bytes !== undefined && { bytes }),
      limit: this.#limit,
    };
  }

  /** Clients refuse longer replies, and servers longer requests. */
  #severityOf(bytes: number): "error" | "warning" {
    return bytes > this.#limit ? "error" : "warning";
  }
}

const UNSAFE = Permission.write | Permission.admin;

/** The children of `root` that every client may write to, or give another ACL. */
export async function* findOpenAcls(
  session: Session,
  root: string,
  { signal, onFailure }: Pick<TreeOptions, "signal" | "onFailure">,
): AsyncGenerator<OpenAclFinding> {
  const [names, identities] = await Promise.all([
    session.getChildren(root, { signal }),
    session.credentialIds(),
  ]);
  const hasIdentity = identities.length > 0;
  const paths = names
    .sort()
    .slice(0, MAX_EXAMINED)
    .map((name) => joinPath(root, name))
    .filter((path) => !isSystemPath(path) && !(session.isKeeper && isKeeperPath(path)));
  for (const some of batches(paths)) {
    const acls = await Promise.all(some.map((path) => readAcl(session, path, signal, onFailure)));
    for (const [index, path] of some.entries()) {
      const acl = acls[index] ?? [];
      if (acl.some(isOpen))
        yield { check: "open-acl", severity: "warning", path, acl, hasIdentity };
    }
  }
}

function isOpen({ scheme, id, perms }: Acl): boolean {
  return scheme === "world" && id === "anyone" && (perms & UNSAFE) !== 0;
}

/** Undefined for a znode that is gone, or whose ACL is not shown. */
async function readAcl(
  session: Session,
  path: string,
  signal: AbortSignal,
  onFailure: TreeOptions["onFailure"],
): Promise<readonly Acl[] | undefined> {
  try {
    return (await session.getAcl(path, { signal })).acl;
  } catch (error) {
    if (!(error instanceof NoNodeError)) onFailure(path, error as Error);
    return undefined;
  }
}

/** The quotas of the servers of which nine tenths or more are used, by their whole paths. */
export async function* findFullQuotas(
  session: Session,
  { signal, onFailure }: Pick<TreeOptions, "signal" | "onFailure">,
): AsyncGenerator<QuotaFinding> {
  const limitsName = "/zookeeper_limits";
  let examined = 0;
  try {
    for await (const paths of treePaths(session, QUOTA_ROOT, { signal, onFailure })) {
      const limited = paths
        .filter((path) => path.endsWith(limitsName))
        .map((path) => path.slice(QUOTA_ROOT.length, -limitsName.length));
      for (const some of batches(limited)) {
        const quotas = await Promise.all(
          some.map((path) => readOneQuota(session, path, signal, onFailure)),
        );
        for (const [index, path] of some.entries()) {
          const { limits, usage } = quotas[index] ?? {};
          if (limits && usage) yield* judgeQuota(path, limits, usage);
        }
      }
      examined += limited.length;
      if (examined >= MAX_EXAMINED) break;
    }
  } catch (error) {
    // Other servers than Apache ZooKeeper keep no quotas.
    if (!(error instanceof NoNodeError)) throw error;
  }
}

async function readOneQuota(
  session: Session,
  path: string,
  signal: AbortSignal,
  onFailure: TreeOptions["onFailure"],
) {
  try {
    return await readQuota(session, path, { signal });
  } catch (error) {
    onFailure(quotaPath(path), error as Error);
    return undefined;
  }
}

function judgeQuota(path: string, limits: QuotaNumbers, usage: QuotaNumbers): QuotaFinding[] {
  const kinds = [
    { what: "count", isHard: true, limit: limits.countHardLimit },
    { what: "count", isHard: false, limit: limits.count },
    { what: "bytes", isHard: true, limit: limits.byteHardLimit },
    { what: "bytes", isHard: false, limit: limits.bytes },
  ] as const;
  return kinds.flatMap(({ what, isHard, limit = -1n }) => {
    const used = usage[what];
    if (limit < 0n || used * 100n < limit * QUOTA_NEAR_PERCENT) return [];
    const severity = isHard && used >= limit ? "error" : "warning";
    return [{ check: "quota", severity, path, what, isHard, used, limit }];
  });
}

function* batches<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += AT_A_TIME)
    yield items.slice(start, start + AT_A_TIME);
}
