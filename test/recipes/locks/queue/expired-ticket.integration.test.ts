import { describe, expect, test } from "vitest";
import type { LockEvent } from "../../../../src/recipes/locks/events.ts";
import { Mutex } from "../../../../src/recipes/locks/mutex.ts";
import type { Session } from "../../../../src/session/session.ts";
import { eventually } from "../../../support/eventually.ts";
import { openFor, rejection } from "../../../support/open-session.ts";
import { freshChroot } from "../../../support/shared-server.ts";

/**
 * After a pause, the deletion of our ticket by expiry is read before the session has been told of
 * its end.
 */
describe("a ticket that is gone", () => {
  test.each([
    {
      name: "with a session that may have expired ends as sessions do",
      isAlive: false,
      reason: "session-expired",
    },
    { name: "with a session that lives was removed by somebody", isAlive: true, reason: "revoked" },
  ])("$name", async ({ isAlive, reason }) => {
    const chroot = await freshChroot();
    const [holder, own] = [openFor(chroot), openFor(chroot)];
    await new Mutex(holder, "/l").acquire();
    let hasPaused = false;
    const paused: Session = new Proxy(own, {
      get(target, key) {
        if (key === "isAlive" && hasPaused) return () => isAlive;
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const events: LockEvent[] = [];
    const waiting = rejection(
      new Mutex(paused, "/l", { onEvent: (event) => void events.push(event) }).acquire(),
    );
    const { node } = await eventually(() => {
      const last = events.at(-1);
      return last?.event === "waiting" && last;
    });
    hasPaused = true;
    await holder.delete(node);
    expect(await waiting).toMatchObject({ reason });
  });
});
