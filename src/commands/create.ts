import { ConflictError, PermissionError, UsageError } from "../errors.ts";
import type { Result } from "../results/result.ts";
import { checkedAcl } from "../session/acl.ts";
import { createWithParents } from "../session/create-with-parents.ts";
import { validatePath } from "../session/path.ts";
import type { Acl } from "../session/session.ts";
import { mayBeCut, readBack } from "./acl-read-back.ts";
import { acl, flag, newZnodePath, option, optional, required, ttl } from "./arguments.ts";
import { type Context, defineCommand } from "./command.ts";
import { howToCreate, type ModeFlags } from "./create-mode.ts";
import { behindData, data, decodeBase64, literalFlag } from "./data.ts";
import { fencedFlag, writerOf } from "./fenced.ts";
import { refuseInTransaction } from "./transaction-step.ts";
import { namingParent } from "./write-failures.ts";

export const create = defineCommand({
  examples: ["create -p /app/config '{\"debug\":false}'", "create /app/secret x auth::cdrwa"],
  effect: "write",
  args: {
    path: required(newZnodePath, "the znode to create"),
    data: optional(data, "text, - (stdin) or @file; @@x is the text @x"),
    acl: optional(behindData(acl), "scheme:id:perms,… with perms of cdrwa; default: open"),
  },
  options: {
    sequential: flag("-s", "append a sequence number that the server chooses"),
    ephemeral: flag("-e", "delete it when the session ends"),
    container: flag("-c", "let the server delete it after its last child is deleted"),
    ttl: option("-t", "ttl", ttl, "let the server delete it after this time without a change"),
    parents: flag("-p", "create missing parents too"),
    ifMissing: flag("", "succeed if the znode already exists, and change nothing"),
    base64: flag("-b", "decode the data from base64 before storing it"),
    literal: literalFlag,
    fenced: fencedFlag,
    hashDigests: flag("", "hash the password of digest:USER:PASSWORD in the ACL"),
  },
  // Containers and TTLs first ask for the server's version, and --hash-digests first loads
  // node:crypto: both are an await before the request.
  // --if-missing may have to ask whether the znode exists.
  // An ACL may have to be read back.
  oneFlight: (
    _context,
    { acl: list },
    { parents, ifMissing, container, ttl: lifetime, hashDigests },
  ) =>
    !parents &&
    !ifMissing &&
    !container &&
    lifetime === undefined &&
    !hashDigests &&
    !(list && mayBeCut(list)),
  async operations({ path, data: given = null, acl: list }, flags) {
    refuseInTransaction("create", flags, ["parents", "ifMissing", "fenced"]);
    validatePath(path, { sequential: flags.sequential });
    const data = flags.base64 && given ? decodeBase64(given) : given;
    const checked = flags.hashDigests ? list && (await hashed(list)) : list && checkedAcl(list);
    return [{ op: "create", path, data, ...howToCreate(flags, checked) }];
  },
  run(context, args, flags) {
    const { acl: list } = args;
    const created = createOne(context, args, flags);
    return list && mayBeCut(list) ? readBack(context, list, created) : created;
  },
});

interface CreateArgs {
  readonly path: string;
  readonly data?: Buffer | null | undefined;
  readonly acl?: readonly Acl[] | undefined;
}

interface CreateFlags extends ModeFlags {
  readonly parents: boolean;
  readonly ifMissing: boolean;
  readonly base64: boolean;
  readonly fenced: boolean;
  readonly hashDigests: boolean;
}

async function createOne(
  context: Context,
  { path, data: given = null, acl: list }: CreateArgs,
  flags: CreateFlags,
): Promise<Extract<Result, { kind: "created" }>> {
  validatePath(path, { sequential: flags.sequential });
  if (flags.ifMissing && flags.sequential)
    throw new UsageError("--if-missing cannot be combined with -s: each number is new");
  const bytes = flags.base64 && given ? decodeBase64(given) : given;
  const checked = flags.hashDigests ? list && (await hashed(list)) : list && checkedAcl(list);
  const options = { signal: context.signal, ...howToCreate(flags, checked) };
  const writer = writerOf(context, flags.fenced);
  const creation = flags.parents
    ? createWithParents(writer, path, bytes, options)
    : namingParent(writer.create(path, bytes, options), path);
  const created = await (flags.ifMissing ? unlessExists(context, creation, path) : creation);
  if (created === undefined) return { kind: "created", path, existed: true, isShortLived: false };
  return {
    kind: "created",
    path: created,
    isShortLived: flags.ephemeral && context.shell.isOneShot,
  };
}

/**
 * Awaits a create; undefined if the znode exists. A server checks the permission on the parent
 * before it looks for the znode, so a client without it gets NoAuth for a znode that exists.
 */
async function unlessExists(
  { session, signal }: Context,
  creation: Promise<string>,
  path: string,
): Promise<string | undefined> {
  try {
    return await creation;
  } catch (error) {
    if (error instanceof ConflictError && error.reason === "node-exists") return undefined;
    if (!(error instanceof PermissionError)) throw error;
    if ((await session().exists(path, { signal })) === undefined) throw error;
    return undefined;
  }
}

async function hashed(list: readonly Acl[]): Promise<readonly Acl[]> {
  const { hashDigests } = await import("../session/hash-digests.ts");
  return hashDigests(list);
}
