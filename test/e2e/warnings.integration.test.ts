import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freshChroot } from "../support/shared-server.ts";
import { startTerminals, type Terminals } from "../support/terminal.ts";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";
import { runZksh } from "../support/zksh-process.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/zksh.js");
const directory = temporaryDirectory("warnings");
let terminals: Terminals;

beforeAll(async () => {
  terminals = await startTerminals();
});

afterAll(async () => {
  await terminals.stop();
  removeDirectory(directory);
});

test.each([
  { mode: 0o644, isOpen: true },
  { mode: 0o640, isOpen: true },
  { mode: 0o600, isOpen: false },
])("an auth file of mode $mode: warned of is $isOpen", async ({ mode, isOpen }) => {
  const file = join(directory, String(mode));
  writeFileSync(file, "digest:ann:secret\n");
  chmodSync(file, mode);
  const { code, stderr } = await runZksh([
    "-s",
    await freshChroot(),
    "--auth-file",
    file,
    "ls",
    "/",
  ]);
  const warning = `warning: other users can read ${file} (--auth-file): run chmod 600 ${file}\n`;
  expect({ code, stderr }).toEqual({ code: 0, stderr: isOpen ? warning : "" });
});

test("the shell shows warnings above the prompt", async () => {
  const command = [process.execPath, PROGRAM, "-s", "127.0.0.1:1", "--tls-insecure"];
  const terminal = await terminals.open({ command });
  await terminal.shows(
    /\nwarning: --tls-insecure accepts every certificate[\s\S]*\nzksh \([^)]*\) 127\.0\.0\.1:1 \/ ›/,
  );
  await terminal.press("C-d");
});
