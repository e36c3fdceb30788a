import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openFor } from "../support/open-session.ts";
import { PYTHON } from "../support/peers.ts";
import { zksh } from "../support/random-trees.ts";
import { freshChroot } from "../support/shared-server.ts";
import { temporaryDirectory } from "../support/tracked-process.ts";
import { runZkcli } from "../support/zkcli-process.ts";

const directory = temporaryDirectory("import");
const READ_ONLY = 1;

test("zkCli.sh and kazoo read what import has written", async () => {
  const server = await freshChroot();
  const session = openFor(server);
  await session.create("/src", Buffer.from("root"));
  await session.create("/src/a b", Buffer.from("text of a b"));
  await session.create("/src/ü", Buffer.from([0, 255, 1]));
  await session.create("/src/job-", null, { mode: "persistentSequential" });
  await session.setAcl("/src", [{ scheme: "world", id: "anyone", perms: READ_ONLY }]);
  const file = join(directory, "peers.jsonl");
  expect(await zksh(server, "export", "/src", "-o", file)).toMatchObject({ code: 0 });
  expect(await zksh(server, "import", "--exact", file, "/back")).toMatchObject({ code: 0 });

  const [address = "", chroot] = server.split("/");
  const commands = [
    `get "/${chroot}/back/a b"`,
    `getAcl /${chroot}/back`,
    `ls -R /${chroot}/back`,
    "quit",
  ];
  const { stdout } = await runZkcli(address, `${commands.join("\n")}\n`);
  expect(stdout).toContain("text of a b");
  expect(stdout).toContain("'world,'anyone\n: r\n");
  expect(stdout).toContain(`/${chroot}/back/job-0000000002`);

  const script = [
    "import sys, json",
    "from kazoo.client import KazooClient",
    "client = KazooClient(hosts=sys.argv[1]); client.start()",
    "names = sorted(client.get_children('/back'))",
    "data = {name: list(client.get('/back/' + name)[0] or b'') for name in names}",
    "acls, stat = client.get_acls('/back')",
    "print(json.dumps([data, [[a.perms, a.id.scheme, a.id.id] for a in acls], stat.cversion]))",
    "client.stop()",
  ].join("\n");
  const { status, stdout: seen } = spawnSync(PYTHON, ["-c", script, server], { encoding: "utf8" });
  expect(status).toBe(0);
  expect(JSON.parse(seen)).toEqual([
    { "a b": [...Buffer.from("text of a b")], "job-0000000002": [], ü: [0, 255, 1] },
    [[READ_ONLY, "world", "anyone"]],
    3,
  ]);
});
