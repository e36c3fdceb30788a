import { UsageError } from "../errors.ts";
import { createWithParents } from "../recipes/create-with-parents.ts";
import { checkedAcl } from "../session/acl.ts";
import { validatePath } from "../session/path.ts";
import type { Acl, CreateMode } from "../session/session.ts";
import { acl, flag, newZnodePath, option, optional, required, ttl } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { behindData, data, decodeBase64, literalFlag } from "./data.ts";
import { fencedFlag, writerOf } from "./fenced.ts";
import { namingParent } from "./write-failures.ts";

export const create = defineCommand({
  examples: [
    "create /app",
    "create -p /app/config '{\"debug\":false}'",
    "create /app/secret x auth::cdrwa",
  ],
  effect: "write",
  args: {
    path: required(newZnodePath, "the znode to make"),
    data: optional(data, "text, - (stdin) or @file; @@x is the text @x"),
    acl: optional(behindData(acl), "scheme:id:perms,… of c d r w a; if left out, open to all"),
  },
  options: {
    sequential: flag("-s", "add a number that the server counts up"),
    ephemeral: flag("-e", "make it end with the session"),
    container: flag("-c", "let the server remove it when its last child is gone"),
    ttl: option("-t", "ttl", ttl, "let the server remove it after this time unused (10s, 1h)"),
    parents: flag("-p", "make missing parents too"),
    base64: flag("-b", "the data is base64: store what it stands for"),
    literal: literalFlag,
    fenced: fencedFlag,
    hashDigests: flag("", "hash the password of digest:USER:PASSWORD in the ACL"),
  },
  // Whether a server knows the newer modes is asked first; hashing waits for node:crypto to be
  // loaded.
  oneFlight: (_context, _args, { parents, container, ttl: lifetime, hashDigests }) =>
    !parents && !container && lifetime === undefined && !hashDigests,
  async run(context, { path, data: given = null, acl: list }, flags) {
    validatePath(path, { sequential: flags.sequential });
    const bytes = flags.base64 && given ? decodeBase64(given) : given;
    const checked = flags.hashDigests ? list && (await hashed(list)) : list && checkedAcl(list);
    const options = {
      signal: context.signal,
      mode: createMode(flags),
      ...(checked && { acl: checked }),
      ...(flags.ttl !== undefined && { ttlMs: flags.ttl }),
    };
    const writer = writerOf(context, flags.fenced);
    const created = flags.parents
      ? await createWithParents(writer, path, bytes, options)
      : await namingParent(writer.create(path, bytes, options), path);
    return { kind: "created", path: created, isShortLived: flags.ephemeral && context.isOneShot };
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
    throw new UsageError(
      "-c cannot be combined with -s or -e. Containers cannot be ephemeral or sequential.",
    );
  }
  if (ttl !== undefined && ephemeral)
    throw new UsageError("TTLs cannot be used with Ephemeral znodes");
  if (ttl !== undefined && container)
    throw new UsageError("TTLs cannot be used with Container znodes");
  if (container) return "container";
  if (ttl !== undefined) return sequential ? "persistentSequentialWithTtl" : "persistentWithTtl";
  if (ephemeral) return sequential ? "ephemeralSequential" : "ephemeral";
  return sequential ? "persistentSequential" : "persistent";
}

async function hashed(list: readonly Acl[]): Promise<readonly Acl[]> {
  const { hashDigests } = await import("../session/hash-digests.ts");
  return hashDigests(list);
}
