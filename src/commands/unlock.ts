import { OperationError } from "../errors.ts";
import { required, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";

export const unlock = defineCommand({
  details: "Gives back what lock, rwlock or sem took in this shell. Taken twice, it wants two.",
  examples: ["unlock /deploy"],
  effect: "write",
  args: { path: required(znodePath, "a path that this shell has locked") },
  options: {},
  async run({ shell, isOneShot }, { path }) {
    const lock = shell.heldLocks.get(path);
    if (!lock) {
      throw new OperationError("not-held", `this ${isOneShot ? "process" : "shell"} does not hold ${path}`, {
        path,
        hint: isOneShot ? "revoke asks another holder to give way" : "whoholds tells who does",
      });
    }
    if (lock.count <= 1) shell.heldLocks.delete(path);
    await lock.release();
    return { kind: "unlocked", path, count: lock.count };
  },
});
