import { ConflictError, NoNodeError, UsageError } from "../errors.ts";
import type { Writer } from "../recipes/locks/fence.ts";
import type { Result } from "../results/result.ts";
import type { VersionOptions } from "../session/session.ts";
import { flag, option, optional, required, version, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { behindData, data, decodeBase64, literalFlag } from "./data.ts";
import { fencedFlag, writerOf } from "./fenced.ts";
import { expectedVersion } from "./request-options.ts";
import { refuseInTransaction } from "./transaction-step.ts";
import { namingParent, namingVersion } from "./write-failures.ts";

export const set = defineCommand({
  details:
    'In scripts write -- before a value, because @/etc/passwd would upload a file: set /p -- "$value".',
  examples: [
    "set /app/config '{\"debug\":true}'",
    "set -v 3 /app/config off",
    "set --create /app/config @config.json",
  ],
  effect: "write",
  args: {
    path: required(znodePath, "the znode"),
    data: required(data, "text, - (stdin) or @file; @@x is the text @x"),
    version: optional(behindData(version), "zkCli's old form of -v"),
  },
  options: {
    stat: flag("-s", "print the new stat"),
    version: option("-v", "version", version, "write only if the data has this version"),
    base64: flag("-b", "decode the data from base64 before storing it"),
    create: flag("", "create the znode if it does not exist"),
    literal: literalFlag,
    fenced: fencedFlag,
  },
  oneFlight: (_context, _args, { create }) => !create,
  operations({ path, data: given, version: positional }, options) {
    refuseInTransaction("set", options, ["create", "fenced"]);
    const bytes = options.base64 ? decodeBase64(given) : given;
    return [{ op: "setData", path, data: bytes, ...expectedVersion(options.version, positional) }];
  },
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
 * Other clients may create or delete the znode between setData and create, so both are tried again
 * a few times; then the last error is thrown.
 */
async function setOrCreate(
  session: Writer,
  path: string,
  bytes: Buffer,
  how: VersionOptions,
): Promise<Written> {
  if (how.version !== undefined) throw new UsageError("-v cannot be combined with --create");
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
