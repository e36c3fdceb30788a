import { onTestFinished } from "vitest";
import { encodeRecord, type HolderRecord } from "../../src/recipes/locks/holder-record.ts";
import type { Session } from "../../src/session/session.ts";
import { spawnTracked } from "./tracked-process.ts";

/**
 * A ticket made by hand: an ephemeral with a number, or without where the name has one already.
 * Returns its path.
 */
export function ticket(
  session: Session,
  prefix: string,
  data: string | Buffer | null = null,
): Promise<string> {
  const bytes = typeof data === "string" ? Buffer.from(data) : data;
  return session.create(prefix, bytes, { mode: "ephemeralSequential" });
}

/** What zksh writes into its tickets. */
export function record(more: Partial<HolderRecord> = {}): Buffer {
  return encodeRecord({
    v: 1,
    tool: "zksh/0.1.0",
    who: "ann@web3",
    host: "web3.example",
    pid: 4711,
    ...more,
  });
}

/** 36 characters, as Curator and zksh make them. */
export function uuid(digit: string): string {
  return "00000000-0000-4000-8000-000000000000".replaceAll("0", digit);
}

/**
 * Stock kazoo runs `script` with a started `client`, and then stays until the test ends. Resolves
 * to its first line.
 */
export async function kazoo(servers: string, script: string): Promise<string> {
  const program = `
import sys
from kazoo.client import KazooClient
client = KazooClient(hosts=sys.argv[1], timeout=10)
client.start()
${script}
print("ready", flush=True)
sys.stdin.read()
client.stop()
`;
  const child = spawnTracked("/usr/bin/python3", ["-c", program, servers], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const end = new Promise((resolve) => child.once("exit", resolve));
  onTestFinished(async () => {
    child.stdin?.end();
    await end;
  });
  return new Promise((resolve, reject) => {
    child.stdout?.once("data", (chunk) => resolve(String(chunk).trim()));
    child.once("exit", (code) => reject(new Error(`kazoo ended with ${code}`)));
  });
}
