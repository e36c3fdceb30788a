import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** Once per run: builds the program that tests start as a process. */
export function setup(): void {
  const root = join(import.meta.dirname, "../..");
  const build = join(root, "scripts/build.js");
  execFileSync(process.execPath, [build, "--quiet"], { cwd: root, stdio: "inherit" });
}
