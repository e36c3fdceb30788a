import { expect, test } from "vitest";
import { decodeRecord } from "../../../src/recipes/locks/holder-record.ts";
import { inspectLock } from "../../../src/recipes/locks/inspect/inspect-lock.ts";
import { askToYield } from "../../../src/recipes/locks/revoke.ts";
import { openFresh } from "../../support/fresh-session.ts";
import { record, ticket, uuid } from "../../support/tickets.ts";

test("a request keeps what the holder has written meanwhile", async () => {
  const session = await openFresh();
  await session.create("/lock", null);
  const node = await ticket(session, `/lock/_c_${uuid("a")}-lock-`, record());
  const [holder] = (await inspectLock(session, "/lock", {})).holders;
  if (!holder) throw new Error("nobody holds it");
  const acquired = new Date().toISOString();
  const setData = session.setData.bind(session);
  let isFirst = true;
  // The holder gets the lock and says so, just before the request is written.
  session.setData = async (path, data, options) => {
    if (isFirst) await setData(node, record({ acquired }));
    isFirst = false;
    return setData(path, data, options);
  };
  expect(await askToYield(session, holder, { by: "eve@ops" }, {})).toBe("asked");
  expect(decodeRecord((await session.getData(node)).data)).toMatchObject({
    acquired,
    revoke: { by: "eve@ops" },
  });
});
