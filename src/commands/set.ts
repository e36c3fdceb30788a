import { ConflictError, NoNodeError, UsageError } from "../errors.ts";
import type { Writer } from "../recipes/locks/fence.ts";
import type { Result } from "../results/result.ts";
import type { VersionOptions } from "../session/session.ts";
import { flag, option, optional, required, version, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { behindData, data, decodeBase64, literalFlag } from "./data.ts";
import { fencedFlag, writerOf } from "./fenced.ts";
import { expectedVersion } from "./request-options.ts";
import { namingParent, namingVersion } from "./write-failures.ts";

export const set = defineCommand({
  details: 'Data is text, - (stdin) or @file; @@x is the text @x. In scripts: set /p -- "$value".',
  examples: [
    "set /app/config '{\"debug\":true}'",
    "set -v 3 /app/config off",
    "set --create /app/config @config.json",
  ],
  effect: "write",
  args: {
    path: required(znodePath, "the znode"),
    data: required(data, "the new data: text, - (stdin) or @file"),
    version: optional(behindData(version), "as -v (zkCli's old form)"),
  },
  options: {
    stat: flag("-s", "print the new stat"),
    version: option("-v", "version", version, "only if the data has this version"),
    base64: flag("-b", "the data is base64: store what it stands for"),
    create: flag("", "make the znode where there is none"),
    literal: literalFlag,
    fenced: fencedFlag,
  },
  oneFlight: (_context, _args, { create }) => !create,
  async run(context, { path, data: given, version: positional }, options) {
    const bytes = options.base64 ? decodeBase64(given) : given;
    const how = { signal: context.signal, ...expectedVersion(options.version, positional) };
    const write = options.create ? setOrCreate : setData;
    const written = await write(writerOf(context, options.fenced), path, bytes, how);
    return { kind: "changed", path, withStat: options.stat, ...written };
  },
});

type Written = Pick<Extract<Result, { kind: "changed" }>, "stat" | "isNew">;

async function setData(
  session: Writer,
  path: string,
  bytes: Buffer,
  how: VersionOptions,
): Promise<Written> {
  return { stat: await namingVersion(session.setData(path, bytes, how), path, how) };
}

/**
 * Others may make the znode, or delete it, between the two tries; after a few rounds the last
 * refusal stands.
 */
async function setOrCreate(
  session: Writer,
  path: string,
  bytes: Buffer,
  how: VersionOptions,
): Promise<Written> {
  if (how.version !== undefined) throw new UsageError("-v and --create exclude each other");
  for (let round = 1; ; round++) {
    try {
      return await setData(session, path, bytes, how);
    } catch (error) {
      if (!(error instanceof NoNodeError) || round > 3) throw error;
    }
    try {
      const { stat } = await namingParent(session.create2(path, bytes, how), path);
      return { stat, isNew: true };
    } catch (error) {
      if (!(error instanceof ConflictError) || error.reason !== "node-exists") throw error;
    }
  }
}
