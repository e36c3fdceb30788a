import { expect, onTestFinished, test } from "vitest";
import { startEmbeddedServer } from "../../../src/embedded/server.ts";
import type { LockEvent } from "../../../src/recipes/locks/events.ts";
import { Semaphore } from "../../../src/recipes/locks/semaphore.ts";
import { eventually } from "../../support/eventually.ts";
import { openFor, rejection } from "../../support/open-session.ts";

test("a waiter whose session ends has lost no permit: it never had one", async () => {
  const server = await startEmbeddedServer({ tickTimeMs: 100 });
  onTestFinished(() => server.stop());
  const open = () => openFor(server.address, { timeoutMs: 2_000 });
  await new Semaphore(open(), "/pool", { limit: 1 }).acquire();
  const session = open();
  const told: LockEvent["event"][] = [];
  const onEvent = ({ event }: LockEvent) => void told.push(event);
  const waiting = rejection(new Semaphore(session, "/pool", { limit: 1, onEvent }).acquire());
  await eventually(() => expect(told).toContain("waiting"));
  server.expireSession(session.id);
  expect(await waiting).toMatchObject({ reason: "session-expired" });
  await eventually(() => expect(session.state).toBe("lost"));
  expect(told).not.toContain("lost");
});
