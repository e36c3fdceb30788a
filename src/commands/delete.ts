import { option, optional, required, version, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { fencedFlag, writerOf } from "./fenced.ts";
import { expectedVersion } from "./request-options.ts";

export const deleteNode = defineCommand({
  examples: ["delete /app/old", "delete -v 3 /app/old"],
  effect: "write",
  args: {
    path: required(znodePath, "the znode"),
    version: optional(version, "as -v (zkCli's old form)"),
  },
  options: {
    version: option("-v", "version", version, "only if the data has this version"),
    fenced: fencedFlag,
  },
  oneFlight: true,
  async run(context, { path, version: positional }, options) {
    const how = { signal: context.signal, ...expectedVersion(options.version, positional) };
    await writerOf(context, options.fenced).delete(path, how);
    return { kind: "deleted", path, ...(positional !== undefined && { oldForm: "delete" }) };
  },
});
