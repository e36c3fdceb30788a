import { ConflictError, NoNodeError, UsageError } from "../errors.ts";
import { hashDigests } from "../session/acl.ts";
import { ancestors, validatePath } from "../session/path.ts";
import type { CreateMode, CreateOptions, Session } from "../session/session.ts";
import { acl, data, decodeBase64, flag, newZnodePath, option, optional, required, ttl } from "./arguments.ts";
import { defineCommand } from "./command.ts";

export const create = defineCommand({
  details:
    "Without data the znode has none (null). Data is text, - for stdin byte for byte, or @file; @@x is the text @x. " +
    "An ACL is scheme:id:perms,… with the letters c d r w a; open to everybody when left out.",
  examples: [
    "create /app",
    "create -p /app/config '{\"debug\":false}'",
    "create -s /app/job-",
    "create /app/secret x auth::cdrwa",
  ],
  effect: "write",
  args: {
    path: required(newZnodePath, "the znode to make"),
    data: optional(data, "its data: text, - (stdin) or @file"),
    acl: optional(acl, "who may do what"),
  },
  options: {
    sequential: flag("-s", "add a number that the server counts up"),
    ephemeral: flag("-e", "make it end with the session"),
    container: flag("-c", "let the server remove it when its last child is gone"),
    ttl: option("-t", "ttl", ttl, "let the server remove it after this time unused (ms, or 10s, 5m, 1h)"),
    parents: flag("-p", "make missing parents too"),
    base64: flag("-b", "the data is base64: store what it stands for"),
    hashDigests: flag("", "digest:USER:PASSWORD in the ACL has the password itself: hash it"),
  },
  // Whether a server knows the newer modes is asked first.
  oneFlight: (_context, _args, { parents, container, ttl: lifetime }) =>
    !parents && !container && lifetime === undefined,
  async run({ session, signal, isOneShot }, { path, data: given = null, acl: list }, flags) {
    validatePath(path, { sequential: flags.sequential });
    const bytes = flags.base64 && given ? decodeBase64(given) : given;
    const options = {
      signal,
      mode: createMode(flags),
      ...(list && { acl: flags.hashDigests ? hashDigests(list) : list }),
      ...(flags.ttl !== undefined && { ttlMs: flags.ttl }),
    };
    const created = flags.parents
      ? await createWithParents(session(), path, bytes, options)
      : await session().create(path, bytes, options);
    return { kind: "created", path: created, isShortLived: flags.ephemeral && isOneShot };
  },
});

interface ModeFlags {
  readonly sequential: boolean;
  readonly ephemeral: boolean;
  readonly container: boolean;
  readonly ttl: number | undefined;
}

function createMode({ sequential, ephemeral, container, ttl }: ModeFlags): CreateMode {
  if (container && (sequential || ephemeral)) {
    throw new UsageError("-c cannot be combined with -s or -e. Containers cannot be ephemeral or sequential.");
  }
  if (ttl !== undefined && ephemeral) throw new UsageError("TTLs cannot be used with Ephemeral znodes");
  if (ttl !== undefined && container) throw new UsageError("TTLs cannot be used with Container znodes");
  if (container) return "container";
  if (ttl !== undefined) return sequential ? "persistentSequentialWithTtl" : "persistentWithTtl";
  if (ephemeral) return sequential ? "ephemeralSequential" : "ephemeral";
  return sequential ? "persistentSequential" : "persistent";
}

/** Tries the znode alone first: where its parent exists, as it mostly does, one request is enough. */
async function createWithParents(
  session: Session,
  path: string,
  bytes: Buffer | null,
  options: CreateOptions,
): Promise<string> {
  try {
    return await session.create(path, bytes, options);
  } catch (error) {
    if (!(error instanceof NoNodeError)) throw error;
  }
  const { signal, acl: list } = options;
  const forParents = { ...(signal && { signal }), ...(list && { acl: list }) };
  // One flight, parents first: the server keeps a session's order. A parent that exists already is no failure.
  const parents = ancestors(path).map((parent) => session.create(parent, null, forParents));
  const [created, ...made] = await Promise.allSettled([session.create(path, bytes, options), ...parents]);
  if (created.status === "fulfilled") return created.value;
  const refused = made.find((outcome) => outcome.status === "rejected" && !(outcome.reason instanceof ConflictError));
  throw created.reason instanceof NoNodeError && refused?.status === "rejected" ? refused.reason : created.reason;
}
