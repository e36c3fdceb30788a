import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, join } from "node:path";
import {
  ended,
  removeDirectory,
  spawnTracked,
  temporaryDirectory,
} from "../support/tracked-process.ts";

/** Set inside the sandbox. */
const INSIDE = "ZKSH_PARTITIONS_SANDBOX";
/** Commands that the suite uses, with the Debian package of each. */
const TOOLS = { unshare: "util-linux", nsenter: "util-linux", ip: "iproute2", nft: "nftables" };
const NAMESPACES = ["--net", "--pid", "--mount-proc", "--kill-child"];
// The first process of a pid namespace inherits orphans; a shell reaps them, node would not.
const FIRST_PROCESS = ["sh", "-c", '"$@"; exit $?', "sh"];

/** What is missing for namespaces, as one sentence; undefined when all is there. */
export function missingPart(): string | undefined {
  if (process.platform !== "linux")
    return `The partition tests need Linux network namespaces; this is ${process.platform}.`;
  if (process.getuid?.() !== 0)
    return "The partition tests need root: they make network namespaces and firewall rules.";
  const folders = (process.env.PATH ?? "").split(delimiter);
  const missing = Object.entries(TOOLS).filter(
    ([tool]) => !folders.some((folder) => existsSync(join(folder, tool))),
  );
  if (missing.length > 0) {
    const names = missing
      .map(([tool, debianPackage]) => `${tool} (package ${debianPackage})`)
      .join(", ");
    return `The partition tests need ${names}.`;
  }
  const attempt = spawnSync("unshare", [...NAMESPACES, "true"], { encoding: "utf8" });
  if (attempt.status === 0) return undefined;
  return `The partition tests need the permission to make namespaces: ${attempt.stderr.trim() || attempt.error?.message}.`;
}

export function isInSandbox(): boolean {
  return process.env[INSIDE] !== undefined;
}

/**
 * Runs this program again in network, process and mount namespaces of its own, and returns its
 * exit code. The kernel removes processes, interfaces and firewall rules with the namespaces, so
 * that nothing is left however the run ends, and parallel runs cannot meet.
 */
export async function runInSandbox(args: readonly string[]): Promise<number> {
  const directory = temporaryDirectory("partitions");
  const program = [process.execPath, ...process.execArgv, process.argv[1] ?? "", ...args];
  const child = spawnTracked("unshare", [...NAMESPACES, ...FIRST_PROCESS, ...program], {
    // Its own process group: Ctrl-C must reach only this process, which then ends the sandbox.
    detached: true,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, [INSIDE]: "1", TMPDIR: directory },
  });
  let signalled: NodeJS.Signals | undefined;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      signalled = signal;
      child.kill("SIGKILL");
    });
  }
  await ended(child);
  removeDirectory(directory);
  return signalled ? 128 + constants.signals[signalled] : (child.exitCode ?? 1);
}
