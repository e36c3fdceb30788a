import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ended, spawnTracked } from "../support/tracked-process.ts";

interface Memory {
  /** What is reachable, in the heap and outside it. */
  readonly heldMb: number;
  readonly rssMb: number;
}

/** An embedded server in a process of its own. */
export interface Serving {
  readonly address: string;
  memory(): Promise<Memory>;
  /** Its exit code; it is asked to leave when it has not left. */
  stop(): Promise<number | null>;
}

export async function startServing(): Promise<Serving> {
  const program = join(import.meta.dirname, "fixtures/serving-process.ts");
  const child = spawnTracked(process.execPath, ["--import", "tsx", program], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Error("no pipes");
  stdin.on("error", () => {});
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  const { value: address } = await lines.next();
  if (address === undefined) throw new Error("the server did not start");
  return {
    address,
    async memory() {
      stdin.write("\n");
      return JSON.parse((await lines.next()).value ?? "null");
    },
    async stop() {
      stdin.end();
      if (child.exitCode === null && child.signalCode === null)
        await Promise.race([ended(child), once(child, "error")]);
      return child.exitCode;
    },
  };
}
