import { option, optional, required, version, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { expectedVersion } from "./request-options.ts";

export const deleteNode = defineCommand({
  examples: ["delete /app/old", "delete -v 3 /app/old"],
  effect: "write",
  args: {
    path: required(znodePath, "the znode"),
    version: optional(version, "as -v (zkCli's old form)"),
  },
  options: { version: option("-v", "version", version, "only if the data has this version") },
  oneFlight: true,
  async run({ session, signal }, { path, version: positional }, options) {
    await session().delete(path, { signal, ...expectedVersion(options.version, positional) });
    return { kind: "deleted", path, ...(positional !== undefined && { oldForm: "delete" }) };
  },
});
