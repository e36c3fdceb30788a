import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

const DIRECTORY = join(import.meta.dirname, "../../node_modules/.cache/zksh-tests");

/**
 * The path of a file or folder that one test run makes and later runs use again. Another Java, or
 * other `ingredients`, give another path, so that nothing outdated is ever used.
 */
export function cachedPath(name: string, ingredients: readonly (string | Buffer)[]): string {
  const hash = createHash("sha256");
  for (const part of [javaVersion(), ...ingredients]) hash.update(part).update("\0");
  return join(DIRECTORY, `${name}-${hash.digest("hex").slice(0, 16)}`);
}

/** What changes when a jar of a class path does. */
export function jarStamps(classPath: string): string[] {
  return classPath.split(delimiter).map((jar) => {
    const path = jar.endsWith("*") ? dirname(jar) : jar;
    const stat = statSync(path, { throwIfNoEntry: false });
    return `${jar} ${stat?.size} ${stat?.mtimeMs}`;
  });
}

/**
 * Lets `make` fill a path of its own and moves that to `path`: a run beside this one sees all of it
 * or nothing. When it fails, nothing stays behind.
 */
export async function makeCached(
  path: string,
  make: (temporary: string) => Promise<void>,
): Promise<void> {
  if (existsSync(path)) return;
  mkdirSync(DIRECTORY, { recursive: true });
  const temporary = `${path}.${randomUUID()}`;
  try {
    await make(temporary);
    renameSync(temporary, path);
  } catch (error) {
    // A run beside this one was first.
    if (!existsSync(path)) throw error;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** The Java that `java` on PATH is, without the 40 ms that asking it takes. */
function javaVersion(): string {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const program = join(folder, "java");
    if (!existsSync(program)) continue;
    const path = realpathSync(program);
    return `${path} ${statSync(path).mtimeMs}`;
  }
  return "";
}
