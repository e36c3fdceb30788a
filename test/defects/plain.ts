import { join } from "node:path";
import zookeeper, { type Callback, type Client, type Exception } from "node-zookeeper-client";
import { onTestFinished } from "vitest";
import { eventually } from "../support/eventually.ts";
import { ended, spawnTracked } from "../support/tracked-process.ts";

const { DISCONNECTED, EXPIRED, SYNC_CONNECTED } = zookeeper.State;

export { DISCONNECTED, EXPIRED, SYNC_CONNECTED };

export type PlainOptions = Parameters<typeof zookeeper.createClient>[1];

/**
 * A client of the plain package, connecting; it is silenced when the test ends, because its close()
 * has defects too.
 */
export function connectPlain(connectString: string, options: PlainOptions = {}): Client {
  const client = zookeeper.createClient(connectString, {
    sessionTimeout: 10_000,
    spinDelay: 20,
    ...options,
  });
  onTestFinished(() => silence(client));
  client.connect();
  return client;
}

/** As {@link connectPlain}, once a server has accepted the session. */
export async function connectedPlain(
  connectString: string,
  options: PlainOptions = {},
): Promise<Client> {
  const client = connectPlain(connectString, options);
  await eventually(() => client.getState() === SYNC_CONNECTED);
  return client;
}

function silence({ connectionManager }: Client): void {
  connectionManager.connect = () => {};
  connectionManager.socket?.destroy();
}

/** What a callback was called with: nothing, as long as it has not been called. */
export interface Outcome<T = unknown> {
  readonly calls: readonly { readonly error: Exception | null; readonly value?: T | undefined }[];
  /** Waits for the call and gives it. */
  settled(): Promise<{ readonly error: Exception | null; readonly value?: T | undefined }>;
}

/** Starts an operation of the plain package and keeps what its callback is told. */
export function outcomeOf<T>(start: (callback: Callback<T>) => void): Outcome<T> {
  const calls: { error: Exception | null; value: T | undefined }[] = [];
  start((error, value) => calls.push({ error, value }));
  const settled = () =>
    eventually(() => {
      const [first] = calls;
      return first ?? false;
    });
  return { calls, settled };
}

/** The plain package in a process of its own, where it can throw what nobody catches. */
export interface PlainProcess {
  /** What it has told so far: `state …`, `callback …`, `uncaught …`. */
  readonly lines: readonly string[];
  /** Does these commands of plain-process.ts, in one turn. */
  run(...commands: string[]): void;
  /** Waits for a line that begins so. */
  says(start: string): Promise<unknown>;
}

export function plainProcess(connectString: string): PlainProcess {
  const file = join(import.meta.dirname, "plain-process.ts");
  const child = spawnTracked(process.execPath, ["--import", "tsx", file, connectString], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended(child);
  });
  const lines: string[] = [];
  let rest = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
  });
  return {
    lines,
    run: (...commands) =>
      void child.stdin?.write(commands.map((command) => `${command}\n`).join("")),
    says: (start) =>
      eventually(() => lines.some((line) => line.startsWith(start)), { message: `no "${start}"` }),
  };
}
