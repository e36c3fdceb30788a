import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    zookeeper?: string;
  }
}

const WITHIN_MS = 10_000;

/**
 * `host:port` of the real server that the whole run shares. Others use it at the same time: stay in
 * a chroot.
 */
export function sharedServer(): string {
  const address = inject("zookeeper");
  if (address === undefined)
    throw new Error("this test needs ZooKeeper: name its file *.integration.test.ts");
  return address;
}

/** Whether this file runs in the project whose tests may use ZooKeeper. */
export function hasSharedServer(): boolean {
  return inject("zookeeper") !== undefined;
}

/** Makes an empty znode that nobody else uses; gives the connect string with it as chroot. */
export async function freshChroot(address = sharedServer()): Promise<string> {
  const path = `/test-${randomUUID()}`;
  await createZnode(address, path);
  return `${address}${path}`;
}

/**
 * Handshake, create and goodbye as plain bytes: what prepares a test must not depend on the code
 * under test.
 */
function createZnode(address: string, path: string): Promise<void> {
  const request = Buffer.concat([
    frame(
      int(0),
      Buffer.alloc(8),
      int(WITHIN_MS),
      Buffer.alloc(8),
      text("\0".repeat(16)),
      Buffer.alloc(1),
    ),
    // create, open to everybody, persistent
    frame(
      int(1),
      int(1),
      text(path),
      int(0),
      int(1),
      int(31),
      text("world"),
      text("anyone"),
      int(0),
    ),
    frame(int(2), int(-11)),
  ]);
  const [host = "", port] = address.split(":");
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), host);
    let received = Buffer.alloc(0);
    socket.setTimeout(WITHIN_MS, () =>
      socket.destroy(new Error(`${address} did not create ${path}`)),
    );
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
    });
    socket.on("close", () => {
      const [, created] = frames(received);
      const code = created?.readInt32BE(12);
      if (code === 0) resolve();
      else
        reject(
          new Error(
            `${address} did not create ${path}: ${code === undefined ? "no answer" : `error ${code}`}`,
          ),
        );
    });
    socket.write(request);
  });
}

function frames(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at + 4 <= bytes.length; ) {
    const end = at + 4 + bytes.readInt32BE(at);
    found.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return found;
}

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function text(value: string): Buffer {
  return Buffer.concat([int(Buffer.byteLength(value)), Buffer.from(value)]);
}

function frame(...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([int(body.length), body]);
}
