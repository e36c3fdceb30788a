import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "./eventually.ts";
import { removeDirectory, temporaryDirectory } from "./tracked-process.ts";
import { runZksh, startZksh } from "./zksh-process.ts";

let directory: string;
let program: string;

beforeAll(() => {
  directory = temporaryDirectory("program");
  program = join(directory, "echo.mjs");
  writeFileSync(
    program,
    `process.on("SIGTERM", () => process.exit(9));
process.stdout.write(JSON.stringify([process.argv.slice(2), Object.keys(process.env).sort(), process.cwd()]) + "\\n");
process.stdin.on("data", (chunk) => process.stderr.write(chunk)).on("end", () => process.exit(3));
`,
  );
});

afterAll(() => {
  removeDirectory(directory);
});

test("runs the program with arguments, input, and a clean environment", async () => {
  process.env.ZKSH_SERVER = "somewhere";
  const result = await runZksh(["a", "b c"], {
    program,
    input: "in",
    env: { ZKSH_YES: "1" },
    cwd: directory,
  });
  delete process.env.ZKSH_SERVER;
  expect(JSON.parse(String(result.stdout))).toEqual([
    ["a", "b c"],
    ["HOME", "LANG", "PATH", "ZKSH_YES"],
    directory,
  ]);
  expect(result).toMatchObject({ code: 3, signal: null, stderr: "in" });
});

test("talks to a program that is running", async () => {
  const process = startZksh([], { program });
  process.write("one");
  await eventually(() => process.stderr === "one");
  process.kill();
  expect(await process.result).toMatchObject({ code: 9, signal: null });
});

test("fails with what was written when the program does not end", async () => {
  // Long enough for node to start on a busy machine.
  const stuck = startZksh(["stuck"], { program, timeoutMs: 4_000 });
  await expect(stuck.result).rejects.toThrow(
    /^zksh stuck did not end within 4000 ms\nstdout: \[\["stuck"\]/,
  );
  await eventually(() => expect(() => process.kill(stuck.pid, 0)).toThrow("ESRCH"));
});
