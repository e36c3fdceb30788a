import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { eventually } from "./eventually.ts";
import {
  ended,
  isRunning,
  removeDirectory,
  spawnTracked,
  temporaryDirectory,
} from "./tracked-process.ts";

const OWNER = `
import { ended, removeDirectory, spawnTracked, temporaryDirectory } from "./tracked-process.ts";
removeDirectory(temporaryDirectory("gone"));
await ended(spawnTracked("true", []));
const alone = spawnTracked("sleep", ["60"]);
const group = spawnTracked("sh", ["-c", "sleep 60 & echo $!; wait"], { detached: true });
group.stdout.once("data", (chunk) => {
  const pids = [alone.pid, group.pid, Number(chunk)];
  console.log(JSON.stringify({ pids, directory: temporaryDirectory("left") }));
});
`;

test.each(["alone", "with its process group"])(
  "what was started goes when its owner is killed %s",
  async (how) => {
    const owner = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", OWNER], {
      cwd: import.meta.dirname,
      detached: true,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const line = await new Promise<string>((resolve) =>
      owner.stdout.once("data", (chunk) => resolve(String(chunk))),
    );
    const { pids, directory } = JSON.parse(line) as { pids: number[]; directory: string };
    expect([...pids.map(isRunning), existsSync(directory)]).toEqual([true, true, true, true]);
    process.kill(how === "alone" ? Number(owner.pid) : -Number(owner.pid), "SIGKILL");
    await eventually(() =>
      expect([...pids.map(isRunning), existsSync(directory)]).toEqual([false, false, false, false]),
    );
  },
);

test("a directory is removed while a program that is about to end writes there", async () => {
  const directory = temporaryDirectory("filled");
  const fill = "i=0; while [ $i -lt 400 ]; do i=$((i + 1)); mkdir $0/$i 2> /dev/null; done";
  const program = spawnTracked("sh", ["-c", fill, directory]);
  await eventually(() => existsSync(`${directory}/30`), { intervalMs: 1 });
  removeDirectory(directory);
  await ended(program);
  expect(existsSync(directory)).toBe(false);
});
