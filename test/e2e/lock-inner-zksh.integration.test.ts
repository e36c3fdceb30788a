/**
 * A zksh that is run by the command under a lock asks where the lock is, whatever the environment
 * says.
 */
import { writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Certificates, makeCertificates } from "../support/certificates.ts";
import { startTlsServer, type TlsServer } from "../support/tls-server.ts";
import { runZksh } from "../support/zksh-process.ts";
import { LOCK, Scene } from "./lock-scene.ts";

const it = test.concurrent;
/**
 * ZKSH_SERVER leads nowhere, as do the other settings, unless what is on the command line comes
 * before them.
 */
const env = { ZKSH: `${import.meta.dirname}/../../bin/zksh.js`, ZKSH_SERVER: "127.0.0.1:1" };
const CHECK = 'node "$ZKSH" fence check "$ZK_LOCK_SEQUENCER"';

let certificates: Certificates;
let secure: TlsServer;

beforeAll(async () => {
  certificates = makeCertificates();
  secure = await startTlsServer({
    certificate: certificates.server,
    clientCa: certificates.ca,
    clientAuth: "need",
  });
});

afterAll(async () => {
  await secure.stop();
  certificates.remove();
});

it.for([
  { words: ["lock", LOCK] },
  { words: ["lock", LOCK, "/m"] },
  { words: ["rwlock", "read", LOCK] },
  { words: ["sem", "--limit", "2", LOCK] },
  { words: ["elect", LOCK] },
])("$words: -s and its chroot", async ({ words }, context) => {
  const scene = await Scene.at(context);
  const ran = await scene.run([...words, "--", "sh", "-c", CHECK], { env });
  expect({ ...ran, stdout: String(ran.stdout) }).toMatchObject({
    code: 0,
    stderr: "",
    stdout: "current\n",
  });
});

it("--reentrant inside the same lock uses the inner zksh's server", async (context) => {
  const scene = await Scene.at(context);
  const inner = `ZKSH_SERVER=127.0.0.1:1 node "$ZKSH" -s ${scene.server} lock --reentrant ${LOCK} -- sh -c '${CHECK}'`;
  expect(await scene.run(["lock", LOCK, "--", "sh", "-c", inner], { env })).toMatchObject({
    code: 0,
    stderr: "",
  });
});

test("--embedded: its server, without the TLS that the environment asks for", async () => {
  const inner = ["--", process.execPath, env.ZKSH, "whoholds", "/a"];
  const ran = await runZksh(["--embedded", "lock", "/a", ...inner], {
    env: { ...env, ZKSH_TLS: "1" },
  });
  expect(ran).toMatchObject({ code: 0, stderr: "" });
});

test("a lock after connect in a script uses the new server", async (context) => {
  const scene = await Scene.at(context);
  const input = `connect ${scene.server}\nlock ${LOCK} -- sh -c '${CHECK}'\n`;
  expect(await runZksh(["--embedded"], { env, input })).toMatchObject({ code: 0, stderr: "" });
});

test("TLS, with files that were named from another directory", async () => {
  const { ca, client } = certificates;
  const tls = [
    "--tls-ca",
    basename(ca),
    "--tls-cert",
    basename(client.cert),
    "--tls-key",
    basename(client.key),
  ];
  const words = [
    ...tls,
    "-s",
    secure.secureAddress,
    "lock",
    LOCK,
    "--",
    "sh",
    "-c",
    `cd /; ${CHECK}`,
  ];
  expect(await runZksh(words, { env, cwd: dirname(ca) })).toMatchObject({ code: 0, stderr: "" });
});

it("timeouts too, but no credential", async (context) => {
  const scene = await Scene.at(context);
  const file = scene.file();
  writeFileSync(file, "digest:bob:secret");
  const settings = [
    "-t",
    "12s",
    "--connect-timeout",
    "3s",
    "--auth",
    "digest:ann:secret",
    "--auth-file",
    file,
  ];
  const { stdout } = await scene.run([...settings, "lock", LOCK, "--", "env"], { env });
  const own = String(stdout)
    .split("\n")
    .filter((line) => /^ZKSH_(?!TEST)/.test(line));
  expect(own.sort()).toEqual([
    "ZKSH_CONNECT_TIMEOUT=3s",
    `ZKSH_SERVER=${scene.server}`,
    "ZKSH_TIMEOUT=12s",
  ]);
  expect(String(stdout)).not.toMatch(/(ann|bob):secret/);
});

it("watch: the znode that has changed can be read", async (context) => {
  const scene = await Scene.at(context);
  await scene.session.create("/n", Buffer.from("text"));
  const script = 'node "$ZKSH" get "$ZKSH_WATCH_PATH"; exit 3';
  const words = ["watch", "--exit-on-failure", "/n", "--", "sh", "-c", script];
  const { stdout } = await scene.run(words, { env });
  expect(String(stdout)).toBe("text");
});
