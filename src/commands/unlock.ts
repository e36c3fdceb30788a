import { OperationError } from "../errors.ts";
import { lockLost } from "../recipes/locks/held-lock.ts";
import { flag, required, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";

export const unlock = defineCommand({
  details:
    "unlock releases what lock, rwlock, sem or elect took in this shell. A lock that was taken " +
    "twice must be unlocked " +
    "twice. lock without a path lists the locks held.",
  examples: ["unlock /deploy"],
  effect: "write",
  args: { path: required(znodePath, "the path of a lock that this shell holds") },
  options: { explain: flag("", "explain each step, and name the ZooKeeper operation") },
  async run({ shell }, { path }, { explain }) {
    const lock = shell.heldLocks.get(path);
    if (!lock) {
      throw new OperationError(
        "not-held",
        `this ${shell.isOneShot ? "process" : "shell"} does not hold ${path}`,
        {
          path,
          hint: shell.isOneShot
            ? `revoke ${path} asks the holder to release it`
            : `whoholds ${path} shows the holder`,
        },
      );
    }
    if (lock.count <= 1) shell.heldLocks.delete(path);
    const removed = await lock.release();
    if (removed === "missing") throw lockLost(path, "node-deleted");
    const { count, mode, nodePaths } = lock;
    return {
      kind: "unlocked",
      path,
      count,
      mode,
      ...(explain && { explain: { nodes: nodePaths } }),
    };
  },
});
