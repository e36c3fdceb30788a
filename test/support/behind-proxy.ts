import { onTestFinished } from "vitest";
import type { SessionOptions } from "../../src/session/options.ts";
import type { Session } from "../../src/session/session.ts";
import { eventually } from "./eventually.ts";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";
import { openFor } from "./open-session.ts";
import { freshChroot, sharedServer } from "./shared-server.ts";

export interface BehindProxy {
  readonly session: Session;
  readonly proxy: FaultProxy;
  /** In the same chroot, over a line of its own. */
  readonly other: Session;
}

/** A connected session whose line can fail, and one that sees what became of its requests. */
export async function behindProxy(
  options: Partial<SessionOptions> = {},
  address = sharedServer(),
): Promise<BehindProxy> {
  const chroot = await freshChroot(address);
  const proxy = await startFaultProxy(Number(address.split(":")[1]));
  onTestFinished(() => proxy.close());
  const session = openFor(chroot.replace(address, proxy.address), options);
  await session.connected();
  return { session, proxy, other: openFor(chroot) };
}

/**
 * Takes the connection away from the next request that contains `text`, after `isCarriedOut` has
 * said so and before its reply has come.
 */
export async function loseReply(
  proxy: FaultProxy,
  text: string,
  isCarriedOut: () => Promise<boolean>,
): Promise<void> {
  await new Promise<void>((resolve) => {
    proxy.onBytes = (direction, chunk) => {
      if (direction !== "to-server" || !chunk.includes(text)) return;
      proxy.onBytes = () => {};
      proxy.stall("to-client");
      resolve();
    };
  });
  await eventually(isCarriedOut);
  proxy.drop();
  proxy.heal();
}
