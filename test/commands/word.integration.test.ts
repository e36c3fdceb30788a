import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Certificates, makeCertificates } from "../support/certificates.ts";
import { fourLetterWord } from "../support/four-letter-word.ts";
import { freePort } from "../support/free-port.ts";
import { sharedServer } from "../support/shared-server.ts";
import { startTlsServer, type TlsServer } from "../support/tls-server.ts";
import { runZksh } from "../support/zksh-process.ts";
import { runReal } from "./run-real.ts";

let certificates: Certificates;
let strict: TlsServer;
let dead: string;

beforeAll(async () => {
  certificates = makeCertificates();
  strict = await startTlsServer({
    certificate: certificates.server,
    clientCa: certificates.ca,
    config: { "4lw.commands.whitelist": "srvr,envi" },
  });
  dead = `127.0.0.1:${await freePort()}`;
});
afterAll(async () => {
  await strict.stop();
  certificates.remove();
});

const open = () => sharedServer();
const strictAddress = () => strict.server.address;

describe("word", () => {
  test("in a pipe the answer is exact, on a terminal a line end is added", async () => {
    expect(await runReal(open(), ["word", "ruok"])).toEqual({
      exit: 0,
      stdout: "imok",
      stderr: "",
    });
    expect(await runReal(open(), ["word", "ruok"], { tty: true })).toMatchObject({
      stdout: "imok\n",
    });
    const conf = await runReal(open(), ["word", "conf"]);
    expect(conf.stdout).toBe(await fourLetterWord(open(), "conf"));
  });

  test("without --all the first server that answers is enough", async () => {
    const ran = await runReal(`${dead},${open()}`, ["word", "ruok"]);
    expect(ran).toEqual({ exit: 0, stdout: "imok", stderr: "" });
  });

  test("--all heads each answer by its server; one that is down makes it exit code 8", async () => {
    const servers = [open(), dead, strictAddress()];
    const { exit, stdout, stderr } = await runReal(servers.join(), ["word", "srvr", "--all"]);
    expect(exit).toBe(8);
    expect(stdout.match(/^==> .*$/gm)).toEqual([`==> ${open()} <==`, `==> ${strictAddress()} <==`]);
    expect(stdout.match(/^Mode: standalone$/gm)).toHaveLength(2);
    expect(stderr.split("\n")).toEqual([
      `error: ${dead}: connection refused`,
      "error: 1 of 3 servers did not answer srvr",
      "",
    ]);
  });

  test("--json has the server, the answer and the time", async () => {
    const { stdout } = await runReal(open(), ["word", "isro", "--all", "--json"]);
    expect(JSON.parse(stdout)).toEqual({
      server: open(),
      word: "isro",
      answer: "rw",
      encoding: "utf8",
      timeMs: expect.any(Number),
    });
  });

  test("a refusal by the whitelist is exit code 1, with the line for zoo.cfg", async () => {
    const expected = [
      `error: ${strictAddress()} does not allow cons: not in its 4lw.commands.whitelist`,
      "  add to zoo.cfg on each server, and restart it: 4lw.commands.whitelist=srvr,cons",
      "",
    ];
    const one = await runReal(strictAddress(), ["word", "cons"]);
    expect({ ...one, stderr: one.stderr.split("\n") }).toEqual({
      exit: 1,
      stdout: "",
      stderr: expected,
    });
    const all = await runReal(strictAddress(), ["word", "cons", "--all"]);
    expect([all.exit, all.stderr.split("\n")]).toEqual([1, [expected[0], ...expected]]);
  });

  test("--all with a refusal and an answer is exit code 8, with the same line", async () => {
    const servers = [strictAddress(), open()].join();
    const { exit, stderr } = await runReal(servers, ["word", "wchs", "--all"]);
    expect(exit).toBe(8);
    expect(stderr).toContain("4lw.commands.whitelist=srvr,wchs");
  });

  test("a plain client at a TLS port is told to use --tls", async () => {
    const { exit, stderr } = await runReal(strict.secureAddress, ["word", "srvr"]);
    expect(exit).toBe(6);
    expect(stderr).toContain("the server expects TLS on this port\n  use --tls");
    const files = { ca: readFileSync(certificates.ca) };
    const options = ["--tls-ca", "ca", "word", "srvr"];
    expect((await runReal(strict.secureAddress, options, { files })).stdout).toContain("Mode: ");
    const wrong = await runReal(strictAddress(), options, { files });
    expect(wrong).toMatchObject({ exit: 6 });
    expect(wrong.stderr).toContain("leave out --tls");
  });

  test("a word that the server does not know is exit code 1, with the words of ZooKeeper", async () => {
    const { exit, stderr } = await runReal(open(), ["word", "ruko"]);
    expect(exit).toBe(1);
    expect(stderr).toMatch(/does not know the word ruko\n {2}ZooKeeper knows conf .* wchs\n$/);
  });

  test.each(["RUOK", "ruo", "ruokk", "ru k", "1234", ""])(
    "%j is not a four-letter word",
    async (text) => {
      const { exit, stderr } = await runReal(open(), ["word", text]);
      expect(exit).toBe(2);
      expect(stderr).toContain(`error: '${text}' is not a four-letter word\n`);
    },
  );

  test("no server at all is exit code 6, and each reason is named once", async () => {
    const other = `127.0.0.1:${await freePort()}`;
    const { exit, stderr } = await runReal(`${dead},${other}`, ["word", "ruok"]);
    expect(exit).toBe(6);
    expect(stderr.split("\n")[0]).toBe(
      `error: no server answered ruok: ${dead}: connection refused; ` +
        `${other}: connection refused`,
    );
  });
});

describe("over TLS, where a server allows srvr and envi only", () => {
  const run = (line: readonly string[], tty = false) => {
    const files = { ca: readFileSync(certificates.ca) };
    return runReal(strict.secureAddress, ["--tls-ca", "ca", ...line], { files, tty });
  };

  test("top shows what srvr tells, and says what it lacks", async () => {
    const { exit, stdout } = await run(["top", "-n", "1", "--every", "100ms"], true);
    expect(exit).toBe(0);
    expect(stdout).toContain(`${strict.secureAddress}  standalone`);
    expect(stdout).toContain(
      "watches and latencies need mntr, which no server allows (4lw.commands.whitelist)",
    );
  });

  test("session shows what this end knows, and names the word that is refused", async () => {
    const { exit, stdout, stderr } = await run(["session"]);
    expect([exit, stdout]).toEqual([0, expect.stringMatching(/^session\t0x\w+\nserver\t127/)]);
    expect(stderr).toContain(`${strict.secureAddress} does not allow cons`);
    const other = await run(["session", "0x1"]);
    expect([other.exit, other.stderr]).toEqual([
      1,
      expect.stringContaining("4lw.commands.whitelist=srvr,cons,dump"),
    ]);
  });

  test("doctor finds nothing wrong, and says that it compared no clocks", async () => {
    const servers = ["-s", strict.secureAddress, "--tls-ca", certificates.ca];
    const { code, stdout, stderr } = await runZksh([...servers, "-v", "doctor"]);
    expect([code, stdout.toString()]).toEqual([0, ""]);
    expect(stderr).toContain("no clocks (the servers do not allow cons; --test-write compares");
  });
});
