import { text } from "node:stream/consumers";
import { spawnJava } from "./java.ts";
import { ended } from "./tracked-process.ts";

export interface ZkcliResult {
  readonly stdout: string;
  readonly stderr: string;
}

/** Feeds Apache zkCli, without its shell script and without its log, and waits for its end. */
export async function runZkcli(
  server: string,
  input: string,
  timeZone = "UTC",
): Promise<ZkcliResult> {
  const args = [
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
    "org.apache.zookeeper.ZooKeeperMain",
  ];
  const child = spawnJava([...args, "-server", server, "-waitforconnection"], {
    env: { PATH: process.env.PATH ?? "", LANG: "C.UTF-8", TZ: timeZone },
    stdio: "pipe",
  });
  const { stdin, stdout, stderr } = child;
  if (!stdin || !stdout || !stderr) throw new Error("zkCli has no pipes");
  // It may end in the middle of its input.
  stdin.on("error", () => {});
  stdin.end(input);
  const written = await Promise.all([text(stdout), text(stderr), ended(child)]);
  return { stdout: written[0], stderr: written[1] };
}
