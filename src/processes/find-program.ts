import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import type { Environment, ProgramSearch } from "./child-requests.ts";

/** The search path of the C library when PATH is not set. */
const DEFAULT_PATH = "/bin:/usr/bin";

/**
 * Finds the file that execvp(3) would run: a name with a slash is a path, any other name is looked
 * up in PATH.
 */
export async function findProgram(name: string, env: Environment): Promise<ProgramSearch> {
  let refused: ProgramSearch | undefined;
  for (const path of candidates(name, env.PATH ?? DEFAULT_PATH)) {
    const search = await look(path);
    if (search.kind === "found") return search;
    // A file without execute permission does not end the search, but is remembered.
    if (search.kind === "not-executable") refused ??= search;
  }
  return refused ?? { kind: "not-found" };
}

function candidates(name: string, path: string): string[] {
  if (name === "") return [];
  if (name.includes("/")) return [name];
  // An empty part of PATH is the current directory.
  return path.split(":").map((directory) => `${directory === "" ? "." : directory}/${name}`);
}

async function look(path: string): Promise<ProgramSearch> {
  try {
    if (!(await stat(path)).isFile()) return { kind: "not-executable", path };
    await access(path, constants.X_OK);
    return { kind: "found", path };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    return code === "EACCES" ? { kind: "not-executable", path } : { kind: "not-found" };
  }
}
