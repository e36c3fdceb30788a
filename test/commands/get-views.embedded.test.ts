/** Views of hostile data, in a process whose memory is limited. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";
import { runZksh } from "../support/zksh-process.ts";

const directory = temporaryDirectory("views");
afterAll(() => removeDirectory(directory));

const MB = 1024 * 1024;

test.each([
  { name: "line ends", unpacked: Buffer.alloc(60 * MB, "\n"), code: 0, length: 60 * MB },
  { name: "open brackets", unpacked: Buffer.alloc(60 * MB, "["), code: 0, length: 60 * MB + 1 },
  { name: "more than 64 MB", unpacked: Buffer.alloc(65 * MB), code: 1, length: 0 },
])("gzip of $name needs no memory for each line", async ({ unpacked, code, length }) => {
  const file = join(directory, "packed");
  writeFileSync(file, gzipSync(unpacked));
  const script = `-q create /packed @${file}; get --view gzip /packed`;
  const ran = await runZksh(["--embedded", "-c", `${script} | wc -c`], {
    env: { NODE_OPTIONS: "--max-old-space-size=400" },
    timeoutMs: 60_000,
  });
  expect([ran.code, ran.stdout.toString()]).toEqual([code, `/packed\n${length}\n`]);
});
