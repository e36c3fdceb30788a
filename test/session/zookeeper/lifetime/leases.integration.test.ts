import { expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { openFresh } from "../../../support/fresh-session.ts";

test("heartbeats of a session that holds locks renew its lease on a real server, and notice a ticket that another client deletes", async () => {
  const session = await openFresh({ timeoutMs: 4_000 });
  await session.create("/ticket", null, { mode: "ephemeral" });
  let missing = 0;
  session.keepLease(["/ticket"], () => missing++);
  const begun = performance.now();
  await eventually(() => expect(performance.now() - begun).toBeGreaterThan(5_000), {
    timeoutMs: 10_000,
  });
  expect(session.leaseForMs()).toBeGreaterThan(0);
  expect(missing).toBe(0);
  await session.delete("/ticket");
  await eventually(() => expect(missing).toBeGreaterThan(0), { timeoutMs: 5_000 });
});
