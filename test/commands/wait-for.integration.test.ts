import { expect, test } from "vitest";
import { openFor } from "../support/open-session.ts";
import { freshChroot } from "../support/shared-server.ts";
import { runReal } from "./run-real.ts";

test("wait-for ends when the value is set, and gives up in time", async () => {
  const server = await freshChroot();
  const other = openFor(server);
  const waited = runReal(server, ["wait-for", "/flag", "value", "on"]);
  await other.create("/flag", Buffer.from("off"));
  await other.setData("/flag", Buffer.from("on"));
  expect(await waited).toMatchObject({ exit: 0, stderr: "" });
  expect(await runReal(server, ["wait-for", "/flag", "gone", "-w", "50ms"])).toEqual({
    exit: 7,
    stdout: "",
    stderr: "error: gave up after 50ms: /flag still exists\n",
  });
});
