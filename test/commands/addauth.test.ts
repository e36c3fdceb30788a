import { describe, expect, test } from "vitest";
import { addauth } from "../../src/commands/addauth.ts";
import type { Context } from "../../src/commands/command.ts";
import { PermissionError } from "../../src/errors.ts";
import { expected, outcome, type Row, run } from "./run.ts";

const NOTE =
  "note: the identity ends with this session; give it to a single command with --auth SCHEME:CRED\n";

const rows: Row[] = [
  {
    name: "tells that a one-shot's identity does not last",
    argv: ["addauth", "digest", "bob:pw"],
    stderr: NOTE,
  },
  { name: "-q leaves the note out", argv: ["-q", "addauth", "digest", "bob:pw"] },
  {
    name: "confirms on a terminal",
    argv: ["addauth", "digest", "bob:pw"],
    tty: true,
    stdout: "Authenticated (digest)\n",
    stderr: NOTE,
  },
  {
    name: "JSON has the scheme, not the proof",
    argv: ["--json", "addauth", "digest", "bob:pw"],
    stdout: '{"scheme":"digest"}\n',
  },
  { name: "is silent as zkCli", argv: ["-o", "zkcli", "addauth", "digest", "bob:pw"] },
  {
    name: "asks for a password, which takes a terminal",
    argv: ["addauth", "digest", "bob"],
    stderr:
      "error: no terminal to ask for bob's password; use addauth digest bob:PASSWORD or --auth-file\n",
    exit: 9,
  },
  {
    name: "the digest scheme needs a user",
    argv: ["addauth", "digest"],
    stderr: "error: the digest scheme needs a user\n  addauth digest USER asks for the password\n",
    exit: 2,
  },
  {
    name: "a refusal is exit code 4",
    argv: ["addauth", "nope", "x"],
    failures: {
      nope: new PermissionError("auth-failed", "authentication failed (AuthFailed)", {
        code: -115,
      }),
    },
    stderr:
      "error: authentication failed (AuthFailed)\n" +
      "  the server does not know the scheme or refused the credential\n",
    exit: 4,
  },
];

describe("addauth", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test("proves the identity to the session", async () => {
    const { session } = await run(["addauth", "digest", "bob:p:w"]);
    expect(session.asked).toEqual(["addAuth digest bob:p:w", "close"]);
  });

  test("other schemes need no proof, and are asked for none", async () => {
    const { session, exit } = await run(["addauth", "ip"]);
    expect([exit, session.asked[0]]).toEqual([0, "addAuth ip "]);
  });

  test("asks for a password only if there is none, and sends the typed one", async () => {
    expect(addauth.secret?.({ scheme: "digest", auth: "bob" }, {})).toMatchObject({
      question: "Password for bob",
    });
    expect(addauth.secret?.({ scheme: "digest", auth: "bob:pw" }, {})).toBeUndefined();
    expect(addauth.secret?.({ scheme: "sasl", auth: "bob" }, {})).toBeUndefined();
    const proofs: string[] = [];
    const authenticate = async (scheme: string, proof: Buffer) =>
      void proofs.push(`${scheme} ${proof}`);
    const context = { shell: { authenticate }, input: { secret: "s3:cret" } } as unknown as Context;
    await addauth.run(context, { scheme: "digest", auth: "bob" }, {});
    expect(proofs).toEqual(["digest bob:s3:cret"]);
  });

  test("an identity holds for the lines after it", async () => {
    const { stdout } = await run(["-c", "addauth digest bob:pw; whoami"]);
    expect(stdout).toBe("ip:127.0.0.1\ndigest:bob\n");
  });
});
