/**
 * Where any setting asks for TLS, no credential leaves in clear: the connection has TLS, or there
 * is none.
 */
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Certificates, makeCertificates } from "../support/certificates.ts";
import { startTlsServer, type TlsServer } from "../support/tls-server.ts";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";
import { runZksh, startZksh } from "../support/zksh-process.ts";

const ZKSH = join(import.meta.dirname, "../../bin/zksh.js");
const SECRET = "open-sesame";
/** The first byte of a TLS record with a ClientHello in it. */
const TLS_HANDSHAKE = 0x16;

let certificates: Certificates;
let secure: TlsServer;
let directory: string;

beforeAll(async () => {
  certificates = makeCertificates();
  directory = temporaryDirectory("tls-settings");
  secure = await startTlsServer({ certificate: certificates.server, clientCa: certificates.ca });
});

afterAll(async () => {
  await secure.stop();
  certificates.remove();
  removeDirectory(directory);
});

/** Listens, and keeps what comes. */
async function eavesdropper(): Promise<{
  address: string;
  firstByte: Promise<number>;
  heard(): Buffer;
}> {
  const chunks: Buffer[] = [];
  const sockets: Socket[] = [];
  let hear = (_byte: number) => {};
  const firstByte = new Promise<number>((resolve) => {
    hear = resolve;
  });
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      hear(chunk[0] ?? 0);
    });
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { address: `127.0.0.1:${port}`, firstByte, heard: () => Buffer.concat(chunks) };
}

function properties(name: string, text: string): string {
  const file = join(directory, name);
  writeFileSync(file, text);
  return file;
}

interface Setting {
  readonly name: string;
  readonly words?: () => readonly string[];
  readonly env?: () => Readonly<Record<string, string>>;
  /** A usage error instead of a connection. */
  readonly isRefused?: boolean;
}

const settings: Setting[] = [
  { name: "--tls-ca", words: () => ["--tls-ca", certificates.ca] },
  {
    name: "--tls-ca against ZKSH_TLS=0",
    words: () => ["--tls-ca", certificates.ca],
    env: () => ({ ZKSH_TLS: "0" }),
    isRefused: true,
  },
  {
    name: "--tls against ZKSH_TLS=0",
    words: () => ["--tls"],
    env: () => ({ ZKSH_TLS: "0" }),
    isRefused: true,
  },
  {
    name: "--tls=0 against ZKSH_TLS_CA",
    words: () => ["--tls=0"],
    env: () => ({ ZKSH_TLS_CA: "x" }),
    isRefused: true,
  },
  {
    name: "zookeeper.client.secure=TRUE",
    words: () => [
      "-client-configuration",
      properties("capitals", "zookeeper.client.secure=TRUE\n"),
    ],
  },
  {
    name: "zookeeper.client.secure over two lines",
    words: () => [
      "-client-configuration",
      properties("continued", "zookeeper.client.secure=\\\n  true\n"),
    ],
  },
  {
    name: "stores alone",
    words: () => [
      "-client-configuration",
      properties("stores", `zookeeper.ssl.trustStore.location=${certificates.ca}`),
    ],
  },
  {
    name: "stores against zookeeper.client.secure=false",
    words: () => [
      "-client-configuration",
      properties(
        "off",
        `zookeeper.client.secure=false\nzookeeper.ssl.trustStore.location=${certificates.ca}`,
      ),
    ],
    isRefused: true,
  },
  {
    name: "a file that nobody else asks TLS of, by its variable",
    env: () => ({
      ZKSH_CLIENT_CONFIGURATION: properties("variable", "zookeeper.client.secure true"),
    }),
  },
  {
    name: "zookeeper.client.secure=yes",
    words: () => ["-client-configuration", properties("yes", "zookeeper.client.secure=yes")],
    isRefused: true,
  },
];

test.for([
  { command: ["ls", "/"], usage: 2 },
  { command: ["lock", "/l", "--", "true"], usage: 125 },
])("$command sends no password in clear, whatever asks for TLS", async ({ command, usage }) => {
  for (const { name, words = () => [], env = () => ({}), isRefused = false } of settings) {
    const { address, firstByte, heard } = await eavesdropper();
    const line = [...words(), "-s", address, "--auth", `digest:ann:${SECRET}`, ...command];
    const zksh = startZksh(line, { env: env(), input: "" });
    const ended = zksh.result.then(({ code }) => `exit ${code}`);
    const outcome = await Promise.race([ended, firstByte]);
    zksh.kill("SIGKILL");
    await ended;
    expect([name, outcome]).toEqual([name, isRefused ? `exit ${usage}` : TLS_HANDSHAKE]);
    expect([name, heard().includes(SECRET)]).toEqual([name, false]);
  }
});

test("a zksh under a lock has the -client-configuration of the one around it", async () => {
  const stores = `zookeeper.ssl.trustStore.location=${certificates.ca}\nzookeeper.ssl.trustStore.type=PEM\n`;
  const file = properties("client.cfg", `zookeeper.client.secure=True\n${stores}`);
  const words = [
    "-client-configuration",
    basename(file),
    "-s",
    secure.secureAddress,
    "lock",
    "/l",
    "--",
  ];
  const inner = `cd /; node "$ZKSH" fence check "$ZK_LOCK_SEQUENCER"`;
  const ran = await runZksh([...words, "sh", "-c", inner], { env: { ZKSH }, cwd: dirname(file) });
  expect({ ...ran, stdout: String(ran.stdout) }).toMatchObject({
    code: 0,
    stderr: "",
    stdout: "current\n",
  });
});

test("--embedded exports nothing that turns TLS off", async () => {
  const { stdout } = await runZksh(["--embedded", "lock", "/a", "--", "env"]);
  expect(String(stdout)).not.toMatch(/^ZKSH_TLS/m);
});

test("--embedded, its locks and what they run need none of the TLS that the environment asks for", async () => {
  const env = { ZKSH, ZKSH_SERVER: "127.0.0.1:1", ZKSH_TLS_CA: "/no/such/file", ZKSH_TLS: "1" };
  const inner = ["lock", "/a", "--", "sh", "-c", 'node "$ZKSH" whoholds /a'];
  expect(await runZksh(["--embedded", ...inner], { env })).toMatchObject({ code: 0, stderr: "" });
});

test("connect from an embedded server to another one goes there with TLS", async () => {
  const { address, firstByte, heard } = await eavesdropper();
  const words = ["--embedded", "--auth", `digest:ann:${SECRET}`, "-c", `connect ${address}`];
  const zksh = startZksh(words, { env: { ZKSH_TLS_CA: certificates.ca } });
  expect(await firstByte).toBe(TLS_HANDSHAKE);
  zksh.kill("SIGKILL");
  await zksh.result;
  expect(heard().includes(SECRET)).toBe(false);
});
