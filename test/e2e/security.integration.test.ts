/** SECURITY.md: the lines that protect a lock do so, and the tests that it names exist. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Session } from "../../src/session/session.ts";
import { eventually } from "../support/eventually.ts";
import { rejection } from "../support/open-session.ts";
import { ended, spawnTracked, temporaryDirectory } from "../support/tracked-process.ts";
import { Scene } from "./lock-scene.ts";

const root = join(import.meta.dirname, "../..");
const page = readFileSync(join(root, "SECURITY.md"), "utf8");
const LINES = /<!-- protect: [^>]*-->\s*```sh\n([\s\S]*?)```/.exec(page)?.[1] ?? "";

/**
 * A home with the auth file, zksh on the PATH, and a deploy.sh that runs until it is told to end.
 */
function workplace(): { home: string; path: string; isRunning(): boolean; letEnd(): void } {
  const home = temporaryDirectory("security");
  const bin = join(home, "bin");
  mkdirSync(bin);
  const script = (file: string, text: string) => {
    writeFileSync(file, `#!/bin/sh\n${text}\n`);
    chmodSync(file, 0o755);
  };
  writeFileSync(join(home, ".zk-auth"), "digest:deploy:secret\n", { mode: 0o600 });
  script(join(bin, "zksh"), `exec "${process.execPath}" "${root}/bin/zksh.js" "$@"`);
  script(
    join(home, "deploy.sh"),
    "touch running; while [ ! -e end ]; do sleep 0.05; done; touch done",
  );
  return {
    home,
    path: `${bin}:${process.env.PATH}`,
    isRunning: () => existsSync(join(home, "running")),
    letEnd: () => writeFileSync(join(home, "end"), ""),
  };
}

/** Everything that the page's first table lists. */
function attacks(neighbour: Session, ticket: string): Record<string, Promise<unknown>> {
  const open = [{ perms: 31, scheme: "world", id: "anyone" }];
  const name = ticket.replace(/.*\//, "").replace(/\d{10}$/, "");
  return {
    "deletes the ticket": neighbour.delete(ticket),
    "writes the ticket": neighbour.setData(ticket, Buffer.from("{}")),
    "reads the ticket": neighbour.getData(ticket),
    "lists the queue": neighbour.getChildren("/locks/deploy"),
    "makes a lower ticket": neighbour.create(`/locks/deploy/${name}0000000000`, null),
    "queues for ever": neighbour.create("/locks/deploy/lock-", null, {
      mode: "persistentSequential",
    }),
    "deletes the path": neighbour.delete("/locks/deploy"),
    "makes another path beside it": neighbour.create("/locks/other", null),
    "opens the path": neighbour.setAcl("/locks/deploy", open),
    "opens its parent": neighbour.setAcl("/locks", open),
  };
}

test("the three lines keep a neighbour out, while the command runs and afterwards", async (context) => {
  const scene = await Scene.at(context);
  const { home, path, isRunning, letEnd } = workplace();
  expect(LINES.trim().split("\n")).toHaveLength(3);
  const shell = spawnTracked("sh", ["-e", "-c", LINES], {
    cwd: home,
    env: { PATH: path, HOME: home, ZKSH_SERVER: scene.server },
    stdio: ["ignore", "inherit", "inherit"],
  });
  await eventually(() => isRunning());
  const deploy = scene.open({
    auth: [{ scheme: "digest", credential: Buffer.from("deploy:secret") }],
  });
  const [ticket] = await deploy.getChildren("/locks/deploy");
  for (const [attack, attempt] of Object.entries(
    attacks(scene.session, `/locks/deploy/${ticket}`),
  )) {
    expect([attack, await rejection(attempt)]).toEqual([
      attack,
      expect.objectContaining({ reason: "no-auth" }),
    ]);
  }
  for (const words of [["revoke"], ["revoke", "--force", "--yes"], ["whoholds"]]) {
    expect([words, await scene.run([...words, "/locks/deploy"])]).toMatchObject([
      words,
      { code: 4 },
    ]);
  }
  letEnd();
  await ended(shell);
  expect([shell.exitCode, existsSync(join(home, "done"))]).toEqual([0, true]);
  // The parent is not empty, and below the parent only we may delete.
  expect(await rejection(scene.session.delete("/locks"))).toMatchObject({ reason: "not-empty" });
  expect(await rejection(scene.session.delete("/locks/deploy"))).toMatchObject({
    reason: "no-auth",
  });
});

test("no secret is in traces, errors or tickets", async (context) => {
  const scene = await Scene.at(context);
  const secret = "open-sesame";
  const identity = ["--debug", "--auth", `digest:ann:${secret}`];
  const script = `addauth digest bob:${secret}; create --hash-digests /a x digest:bob:${secret}:cdrwa; addauth digest:bob:${secret}`;
  const ran = await scene.run([...identity, "-c", script]);
  expect(ran.stderr).toMatch(/create \/a|create .*\/a -> ok/);
  const zksh = scene.start([
    ...identity,
    "lock",
    "/l",
    "--",
    "sh",
    "-c",
    `: ${secret}; echo held; read line`,
  ]);
  await eventually(() => zksh.stdout.includes("held"));
  const [ticket] = await scene.tickets();
  const { data } = await scene.session.getData(`/l/${ticket}`);
  zksh.endInput();
  const { stderr } = await zksh.result;
  expect(String(data)).toContain('"cmd":"sh"');
  for (const text of [ran.stderr, String(data), stderr]) expect(text).not.toContain(secret);
});

test("every test that the page names is there", () => {
  const named = [...page.matchAll(/`(test\/[\w/.-]+\.ts)`/g)].map(([, file = ""]) => file);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
