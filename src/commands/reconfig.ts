import { UsageError } from "../errors.ts";
import { flag, Outside, option, type ValueParser } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { configResult } from "./config.ts";

/** Lower case, as zkCli sends them, because servers compare the text. */
const servers: ValueParser<string> = (text) => text.toLowerCase();

const configVersion: ValueParser<bigint> = (text) => {
  const digits = /^(?:0x)?([0-9a-f]{1,16})$/i.exec(text)?.[1];
  if (digits !== undefined) return BigInt(`0x${digits}`);
  throw new UsageError("-v must be followed by a long (configuration version)", {
    hint: "use hex digits, as printed by config",
  });
};

/** The `server.`, `group.` and `weight.` lines of a configuration file. */
const memberFile: ValueParser<string> = (path) =>
  new Outside(async (reader) => {
    const text = await reader.file(path).catch((cause: Error) => {
      const why = cause.message.endsWith("no such file")
        ? "No such file or directory"
        : cause.message;
      throw new UsageError(`Error processing ${path} (${why})`, { cause });
    });
    const lines = text
      .toString()
      .split(/\r?\n/)
      .map((line) => line.trim());
    const members = lines.filter((line) => line !== "" && !/^(?:[#!]|version\s*=)/.test(line));
    const strange = members.find((line) => !/^(?:server|group|weight)\./.test(line));
    if (strange !== undefined)
      throw new UsageError(`${path}: not a server, group or weight line: ${strange}`);
    if (members.length === 0) throw new UsageError(`${path} names no servers`);
    return members.join("\n");
  });

export const reconfig = defineCommand({
  details:
    "A server is written server.ID=HOST:PORT1:PORT2[:ROLE];[HOST:]CLIENTPORT. The servers need " +
    "reconfigEnabled=true, and this " +
    "session the super user or w permission on /zookeeper/config.",
  examples: [
    "reconfig -add 'server.4=zk4:2888:3888;2181'",
    "reconfig -remove 3",
    "reconfig -file members.cfg",
  ],
  effect: "write",
  args: {},
  options: {
    stat: flag("-s", "print the stat of the configuration too"),
    version: option(
      "-v",
      "version",
      configVersion,
      "change only if the configuration has this version (hex)",
    ),
    file: option("", "path", memberFile, "replace all members by those of this file"),
    members: option("", "servers", servers, "replace all members by these, separated by commas"),
    add: option("", "servers", servers, "add these servers, separated by commas"),
    remove: option("", "ids", servers, "remove the servers with these ids, separated by commas"),
  },
  oneFlight: false,
  async run({ session, signal }, _args, { stat, version, file, members, add, remove }) {
    const replaces = file !== undefined || members !== undefined;
    const changes = add !== undefined || remove !== undefined;
    if (!replaces && !changes) {
      throw new UsageError("reconfig needs -file, -members, -add or -remove", {
        reason: "missing-argument",
      });
    }
    if (replaces && changes) {
      throw new UsageError(
        "Can't use -file or -members together with -add or -remove " +
          "(mixing incremental and non-incremental modes is not allowed)",
      );
    }
    if (file !== undefined && members !== undefined) {
      throw new UsageError(
        "Can't use -file and -members together (conflicting non-incremental modes)",
      );
    }
    const all = file ?? members;
    const data = await session().reconfig({
      signal,
      ...(add !== undefined && { joining: add }),
      ...(remove !== undefined && { leaving: remove }),
      ...(all !== undefined && { members: all }),
      ...(version !== undefined && { fromConfig: version }),
    });
    return configResult(data, { withStat: stat, isBrief: false, isNew: true });
  },
});
