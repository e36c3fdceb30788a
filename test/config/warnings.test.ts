import { describe, expect, test } from "vitest";
import { run } from "../commands/run.ts";

const given = { "/a": "x" };
const files = {
  "/auth": "digest:ann:secret",
  "/ca": "CA",
  "/cert": "CERT",
  "/key": "KEY",
  "/keeper": "secret",
};
const tls = ["--tls-ca", "/ca"];

/** The words before `get /a`, and what is said of them. */
const rows: {
  name: string;
  words: readonly string[];
  warnings: readonly RegExp[];
  open?: readonly string[];
}[] = [
  { name: "nothing", words: ["-s", "zk1"], warnings: [] },
  {
    name: "a password to another host in clear",
    words: ["-s", "zk1", "--auth", "digest:a:b"],
    warnings: [/digest.*zk1:2181/],
  },
  {
    name: "the same for one of several hosts",
    words: ["-s", "localhost,zk2:1", "--auth", "digest:a:b"],
    warnings: [/zk2:1 without TLS/],
  },
  {
    name: "the same out of a file",
    words: ["-s", "10.0.0.1", "--auth-file", "/auth"],
    warnings: [/10\.0\.0\.1:2181/],
  },
  {
    name: "the password of a ClickHouse Keeper",
    words: ["-s", "ch1", "--keeper-password-file", "/keeper"],
    open: ["/keeper"],
    warnings: [
      /the Keeper password is sent to ch1:2181 without TLS/,
      /other users can read \/keeper \(--keeper-password-file\): run chmod 600/,
    ],
  },
  {
    name: "a password with TLS",
    words: ["-s", "zk1", ...tls, "--auth", "digest:a:b"],
    warnings: [],
  },
  {
    name: "a password to this machine",
    words: ["-s", "localhost,127.0.0.2,[::1]", "--auth", "digest:a:b"],
    warnings: [],
  },
  {
    name: "a password to a socket",
    words: ["-s", "unix:/s", "--auth", "digest:a:b"],
    warnings: [],
  },
  { name: "an identity without a secret", words: ["-s", "zk1", "--auth", "ip:"], warnings: [] },
  {
    name: "--tls-insecure",
    words: ["-s", "zk1", "--tls-insecure"],
    warnings: [/--tls-insecure accepts every certificate/],
  },
  {
    name: "files that others can read",
    words: ["--auth-file", "/auth", ...tls, "--tls-cert", "/cert", "--tls-key", "/key"],
    open: ["/auth", "/ca", "/cert", "/key"],
    warnings: [
      /^warning: other users can read \/auth \(--auth-file\): run chmod 600 \/auth$/,
      /\/key \(--tls-key\)/,
    ],
  },
];

describe("warnings", () => {
  test.each(rows)("$name", async ({ words, warnings, open = [] }) => {
    const options = {
      given,
      files,
      isReadableByOthers: async (path: string) => open.includes(path),
    };
    const { stderr, stdout, exit } = await run([...words, "get", "/a"], options);
    expect([stdout, exit]).toEqual(["x", 0]);
    const lines = stderr.split("\n").filter(Boolean);
    expect(lines).toEqual(warnings.map((pattern) => expect.stringMatching(pattern)));
    expect(stderr).not.toContain("secret");
    expect((await run(["-q", ...words, "get", "/a"], options)).stderr).toBe("");
  });

  test("are objects in JSON", async () => {
    const { stderr } = await run(["--json", "-s", "zk1", "--tls-insecure", "get", "/a"], { given });
    expect(JSON.parse(stderr)).toEqual({
      warning: { reason: "insecure-tls", message: expect.any(String) },
    });
  });

  test("are written once, also for options on a typed line", async () => {
    const script =
      "addauth digest ann:secret; addauth digest bob:secret; connect zk1; connect zk2; get /a";
    const { stderr } = await run(["-s", "zk1", "--auth", "digest:a:b", "-c", script], { given });
    expect(stderr.split("\n").filter(Boolean)).toEqual([
      expect.stringMatching(/^warning: the digest credential is sent to zk1:2181/),
      expect.stringMatching(/^warning: the digest credential is sent to zk2:2181/),
    ]);
    const typed = await run(["-s", "zk1", "-c", "get /a; addauth digest ann:secret"], { given });
    expect(typed.stderr).toMatch(/^warning: the digest credential is sent to zk1:2181[^\n]*\n$/);
  });
});
