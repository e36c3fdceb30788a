/** Views of queues while no server answers. */
import { expect, onTestFinished, test } from "vitest";
import { startEmbeddedServer } from "../../../../src/embedded/server.ts";
import { QueueFollower } from "../../../../src/recipes/locks/inspect/follow-queue.ts";
import { BoardFollower } from "../../../../src/recipes/locks/inspect/lock-board.ts";
import { openFor } from "../../../support/open-session.ts";
import { record, ticket } from "../../../support/tickets.ts";

test.each([
  { name: "whoholds --watch", follower: new QueueFollower(["/app/lock"], 20) },
  { name: "whoholds -R --watch", follower: new BoardFollower(["/app"], 20) },
])("$name goes on telling, and says since when no server answers", async ({ follower }) => {
  const server = await startEmbeddedServer();
  onTestFinished(() => server.stop());
  const session = openFor(server.address, { timeoutMs: 20_000 });
  for (const path of ["/app", "/app/lock"]) await session.create(path, null);
  await ticket(session, "/app/lock/lock-", record());
  const abort = new AbortController();
  const changes = follower.follow(session, abort.signal);
  onTestFinished(() => abort.abort());
  const next = async () => {
    const { value } = await changes.next();
    if (!value || !("reports" in value)) throw new Error("no queue was told");
    expect(value.reports).toMatchObject([{ path: "/app/lock", holders: [{}] }]);
    return value.unansweredSince;
  };
  expect(await next()).toBeUndefined();
  const before = Date.now();
  await server.stop();
  let since = await next();
  while (since === undefined) since = await next();
  expect(since).toBeGreaterThanOrEqual(before);
  // Longer than any of the two looks by itself: it does not hang in a look.
  for (const until = Date.now() + 3_000; Date.now() < until; ) expect(await next()).toBe(since);
});
