import { UsageError } from "../errors.ts";
import { flag, Outside, option, type ValueParser } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { configResult } from "./config.ts";

/** zkCli sends them in lower case, and servers compare. */
const servers: ValueParser<string> = (text) => text.toLowerCase();

const configVersion: ValueParser<bigint> = (text) => {
  const digits = /^(?:0x)?([0-9a-f]{1,16})$/i.exec(text)?.[1];
  if (digits !== undefined) return BigInt(`0x${digits}`);
  throw new UsageError("-v must be followed by a long (configuration version)", {
    hint: "in hex, as config shows it",
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
      throw new UsageError(`${path}: not a line of a configuration: ${strange}`);
    if (members.length === 0) throw new UsageError(`${path} names no servers`);
    return members.join("\n");
  });

export const reconfig = defineCommand({
  details:
    "A server is ID=host:port1:port2[:role];[host:]clientPort. Needs reconfigEnabled=true on the servers, and the super " +
    "user or a w permission on /zookeeper/config.",
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
      "only if the configuration has this version (hex)",
    ),
    file: option("", "path", memberFile, "a file with the new members"),
    members: option("", "servers", servers, "the new members, separated by commas"),
    add: option("", "servers", servers, "servers to add, separated by commas"),
    remove: option("", "ids", servers, "ids of servers to remove, separated by commas"),
  },
  oneFlight: false,
  async run({ session, signal }, _args, { stat, version, file, members, add, remove }) {
    const replaces = file !== undefined || members !== undefined;
    const changes = add !== undefined || remove !== undefined;
    if (!replaces && !changes) {
      throw new UsageError("say what to change: -file, -members, -add or -remove", {
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
