import { PartialError } from "../errors.ts";
import { countBelow } from "../recipes/trees/count-below.ts";
import { required, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";

export const getAllChildrenNumber = defineCommand({
  details:
    "The znode itself is not counted. Servers before 3.6 cannot count, so zksh lists the whole " +
    "tree there.",
  examples: ["getAllChildrenNumber /zookeeper"],
  effect: "read",
  args: { path: required(znodePath, "the znode") },
  options: {},
  async run({ session, signal }, { path }) {
    const onFailure = (hidden: string, cause: Error) => {
      throw new PartialError("partial", `could not count below ${hidden}`, {
        path: hidden,
        hint: cause.message,
        cause,
      });
    };
    return { kind: "count", path, count: await countBelow(session(), path, { signal, onFailure }) };
  },
});
