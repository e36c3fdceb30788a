/**
 * What a client without our identity can do to a lock: with default ACLs, and with --acl and
 * --path-acl.
 */
import { expect, type TestContext, test } from "vitest";
import { formatAcl } from "../../src/session/acl.ts";
import type { Session } from "../../src/session/session.ts";
import { eventually } from "../support/eventually.ts";
import { rejection } from "../support/open-session.ts";
import type { ZkshProcess } from "../support/zksh-process.ts";
import { Scene } from "./lock-scene.ts";

const it = test.concurrent;
const AUTH = ["--auth", "digest:ann:secret"];
const ANN = { auth: [{ scheme: "digest", credential: Buffer.from("ann:secret") }] };

/** Below /app, which has to be made too. */
const recipes = [
  { name: "lock", words: ["lock"], paths: ["/app", "/app/l"], tickets: "/app/l" },
  {
    name: "lock --compat all",
    words: ["lock", "--compat", "all"],
    paths: ["/app", "/app/l"],
    tickets: "/app/l",
  },
  {
    name: "lock of two paths",
    words: ["lock", "/app/m"],
    paths: ["/app", "/app/l", "/app/m"],
    tickets: "/app/l",
  },
  { name: "rwlock", words: ["rwlock", "write"], paths: ["/app", "/app/l"], tickets: "/app/l" },
  { name: "elect", words: ["elect"], paths: ["/app", "/app/l"], tickets: "/app/l" },
  {
    name: "sem",
    words: ["sem", "--limit", "1"],
    paths: ["/app", "/app/l", "/app/l/locks", "/app/l/leases"],
    tickets: "/app/l/leases",
  },
  {
    name: "lock --recipe unique",
    words: ["lock", "--recipe", "unique"],
    paths: ["/app"],
    tickets: "/app",
  },
];

async function holding(
  context: TestContext,
  words: readonly string[],
  options: readonly string[],
): Promise<Held> {
  const scene = await Scene.at(context);
  const zksh = scene.start([
    ...AUTH,
    ...words,
    "/app/l",
    ...options,
    "--",
    "sh",
    "-c",
    "echo held; read line",
  ]);
  await eventually(() => expect(zksh.stdout + zksh.stderr).toContain("held\n"));
  return { scene, zksh, ann: scene.open(ANN) };
}

interface Held {
  readonly scene: Scene;
  readonly zksh: ZkshProcess;
  readonly ann: Session;
}

async function ticketBelow(session: Session, path: string): Promise<string> {
  const [name] = (await session.getChildren(path)).filter((child) => /[0-9]{10}$|^l$/.test(child));
  return `${path}/${name}`;
}

/** Ends the command that holds the lock, which must have run undisturbed until now. */
async function endsUndisturbed(zksh: ZkshProcess): Promise<void> {
  zksh.write("\n");
  zksh.endInput();
  expect(await zksh.result).toMatchObject({ code: 0, stderr: "" });
}

it.for(recipes)(
  "--acl keeps others out of the paths and tickets of $name",
  async (recipe, context) => {
    const { scene, zksh, ann } = await holding(context, recipe.words, ["--acl", "auth::cdrwa"]);
    const ticket = await ticketBelow(ann, recipe.tickets);
    for (const path of [...recipe.paths, ticket]) {
      expect((await ann.getAcl(path)).acl.map(formatAcl), path).toEqual([
        expect.stringMatching(/^digest:ann:.*:cdrwa$/),
      ]);
    }
    for (const attack of [
      scene.session.delete(ticket),
      scene.session.setData(ticket, Buffer.from("mine")),
      scene.session.create(`${recipe.tickets}/lock-`, null, { mode: "ephemeralSequential" }),
      scene.session.getData(recipe.tickets),
      scene.session.getChildren(recipe.tickets),
      scene.session.setAcl(recipe.tickets, [{ perms: 31, scheme: "world", id: "anyone" }]),
    ]) {
      expect(await rejection(attack)).toMatchObject({ reason: "no-auth" });
    }
    await endsUndisturbed(zksh);
  },
);

it.for(recipes)(
  "the path of $name has nothing of the ticket's record in it",
  async (recipe, context) => {
    const { zksh, ann } = await holding(context, [...recipe.words, "--why", "confidential"], []);
    for (const path of recipe.paths) {
      const { data } = await ann.getData(path);
      // A semaphore's limit is for all who use it.
      const expected = recipe.name === "sem" && path === "/app/l" ? '{"v":1,"limit":1}' : "";
      expect(String(data ?? ""), path).toBe(expected);
    }
    await endsUndisturbed(zksh);
  },
);

it("--path-acl is the path's alone: tickets stay readable to others", async (context) => {
  const { scene, zksh } = await holding(
    context,
    ["lock"],
    ["--path-acl", "world:anyone:r,auth::cdrwa"],
  );
  const ticket = await ticketBelow(scene.session, "/app/l");
  expect((await scene.session.getAcl(ticket)).acl.map(formatAcl)).toEqual(["world:anyone:cdrwa"]);
  expect(await rejection(scene.session.delete(ticket))).toMatchObject({ reason: "no-auth" });
  await endsUndisturbed(zksh);
});

it("a path that is there already keeps its ACL", async (context) => {
  const scene = await Scene.at(context);
  await scene.session.create("/l", null);
  expect(
    await scene.run([...AUTH, "lock", "--acl", "auth::cdrwa", "/l", "--", "true"]),
  ).toMatchObject({ code: 0 });
  expect((await scene.session.getAcl("/l")).acl.map(formatAcl)).toEqual(["world:anyone:cdrwa"]);
});

it.for([
  {
    name: "the ACL lets no client queue",
    words: ["--acl", "world:anyone:r"],
    says: "no client could queue at a lock path",
  },
  {
    name: "a password is in place of its hash",
    words: ["--acl", "digest:ann:secret:cdrwa"],
    says: "is not a hash",
  },
  {
    name: "the same in --path-acl",
    words: ["--path-acl", "digest:ann:secret:cdrwa"],
    says: "is not a hash",
  },
])("exit code 125 where $name", async ({ words, says }, context) => {
  const scene = await Scene.at(context);
  const { code, stderr } = await scene.run(["lock", ...words, "/l", "--", "true"]);
  expect([code, stderr]).toEqual([125, expect.stringContaining(says)]);
  expect(await scene.session.exists("/l")).toBeUndefined();
});

it("with default ACLs a neighbour stops the command by deleting its ticket (SECURITY.md says so)", async (context) => {
  const { scene, zksh } = await holding(context, ["lock"], []);
  await scene.session.delete(await ticketBelow(scene.session, "/app/l"));
  expect(await zksh.result).toMatchObject({ code: 120 });
});
