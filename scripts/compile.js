/** Runs the program a few times, so that V8 need not compile at each start what it has compiled here. */
import { execFile } from "node:child_process";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const root = join(import.meta.dirname, "..");

/** The first is what main.cjs is compiled for, the others are for the rest. */
const RUNS = [
  ["get", "/zookeeper/config"],
  ["-c", "create /a one; ls /; ls -R /; set /a two; stat /a; exists /a; delete /a"],
];

/** To be done before the files change: V8 would take what it has compiled of a file for any other of the same length. */
export async function forgetCompiled(dist) {
  for (const name of await readdir(dist)) if (name.endsWith(".cache")) await rm(join(dist, name));
}

/** The program works without, only more slowly: false where it could not be run. */
export async function compileProgram(dist) {
  const { startEmbeddedServer } = await import(pathToFileURL(join(dist, "index.js")).href);
  const server = await startEmbeddedServer();
  try {
    for (const words of RUNS) {
      await promisify(execFile)(
        process.execPath,
        [
          "--require",
          join(import.meta.dirname, "compile.cjs"),
          join(root, "bin/zksh.js"),
          "-s",
          server.address,
          ...words,
        ],
        // Settings of the one who builds are not to be part of it.
        { env: {}, timeout: 30_000 },
      );
    }
    return true;
  } catch {
    return false;
  } finally {
    await server.stop();
  }
}
