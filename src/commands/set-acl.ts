import { UsageError } from "../errors.ts";
import { setTreeAcl } from "../recipes/trees/set-tree-acl.ts";
import type { Result } from "../results/result.ts";
import { checkedAcl, formatAcl } from "../session/acl.ts";
import { hashDigests } from "../session/hash-digests.ts";
import type { Acl, VersionOptions } from "../session/session.ts";
import { mayBeCut, readBack } from "./acl-read-back.ts";
import { acl, flag, option, optional, required, version, znodePath } from "./arguments.ts";
import { type Context, defineCommand } from "./command.ts";
import { expectedVersion } from "./request-options.ts";
import {
  describeTree,
  refuseProtected,
  reportFailures,
  tellInterruption,
  treePaths,
} from "./whole-tree.ts";
import { namingVersion } from "./write-failures.ts";

export const setAcl = defineCommand({
  details:
    "An ACL is scheme:id:perms,… with perms of c (create), d (delete), r (read), w (write), a " +
    "(admin). The id of a digest is " +
    "USER:HASH; a password is refused without --hash-digests. -R asks first; --yes answers. " +
    "Znodes that cannot be changed " +
    "are reported with the reason, and the exit code is 8.",
  examples: [
    "setAcl /app/config world:anyone:r,auth::cdrwa",
    "setAcl --hash-digests /app digest:ann:secret:cdrwa",
    "setAcl -R --dry-run /app world:anyone:cdrwa",
  ],
  effect: "write",
  args: {
    path: required(znodePath, "the znode"),
    acl: required(acl, "the new ACL"),
    version: optional(version, "zkCli's old form of -v"),
  },
  options: {
    stat: flag("-s", "print the new stat"),
    version: option(
      "-v",
      "version",
      version,
      "write only if the ACL has this version (aclVersion)",
    ),
    recursive: flag("-R", "change all znodes below it too"),
    hashDigests: flag("", "hash the password of digest:USER:PASSWORD"),
    dryRun: flag("", "with -R: list what would be changed, and change nothing"),
  },
  oneFlight: (_context, { acl: given }, { recursive }) => !recursive && !mayBeCut(given),
  async confirm(context, { path, acl: given }, { recursive, dryRun, hashDigests: mustHash }) {
    if (!recursive || dryRun) return undefined;
    refuseProtected("setAcl -R", path, context.writes);
    const list = mustHash ? hashDigests(given) : checkedAcl(given);
    const tree = await describeTree(context, path);
    return { text: `Set the ACL of ${tree} to ${list.map(formatAcl).join(",")}?`, paths: [path] };
  },
  run(context, { path, acl: given, version: positional }, options) {
    const list = options.hashDigests ? hashDigests(given) : checkedAcl(given);
    const expected = { signal: context.signal, ...expectedVersion(options.version, positional) };
    if (!options.recursive) {
      if (options.dryRun) throw new UsageError("--dry-run works only with -R");
      const set = setOne(context, path, list, { ...expected, withStat: options.stat });
      return mayBeCut(list) ? readBack(context, list, set) : set;
    }
    refuseProtected("setAcl -R", path, context.writes);
    return options.dryRun ? treePaths(context, path) : setTree(context, path, list, expected);
  },
});

async function setOne(
  { session }: Context,
  path: string,
  list: readonly Acl[],
  { withStat, ...expected }: VersionOptions & { readonly withStat: boolean },
): Promise<Extract<Result, { kind: "acl-changed" }>> {
  const stat = await namingVersion(session().setAcl(path, list, expected), path, {
    ...expected,
    of: "acl",
  });
  return { kind: "acl-changed", path, stat, withStat };
}

async function* setTree(
  context: Context,
  path: string,
  list: readonly Acl[],
  { version: expected }: VersionOptions,
): AsyncGenerator<Result> {
  const { changed, failures } = await setTreeAcl(context.session(), path, list, {
    signal: context.signal,
    ...(expected !== undefined && { version: expected }),
    onProgress: (done) => context.output.onProgress?.(done, "ACLs set"),
  }).catch((error) => {
    throw tellInterruption(error, { verb: "changed", path, rest: "the rest keeps its old ACL" });
  });
  yield* reportFailures("setAcl", failures, changed);
  const done = Promise.resolve({ kind: "tree-acl-changed", path, count: changed } as const);
  yield* readBack(context, list, done);
}
