#!/usr/bin/env node
// @ts-check
// CommonJS, as package.json beside this file says: it starts faster than an ES module.
const { existsSync, lstatSync, mkdirSync } = require("node:fs");
const { join } = require("node:path");
// From Node 22.8 on.
const { enableCompileCache } = /** @type {any} */ (require("node:module"));

const program = join(__dirname, "../dist/main.cjs");

/**
 * Where compiled code is kept between runs. It is code that we run, so the folder must be ours and
 * closed to others. Undefined where there is none, as in a container without a home.
 */
function cacheFolder() {
  const { XDG_CACHE_HOME, HOME = "" } = process.env;
  const [home, name] = XDG_CACHE_HOME ? [XDG_CACHE_HOME, "zksh"] : [HOME, ".cache/zksh"];
  if (!home.startsWith("/") || process.env.NODE_DISABLE_COMPILE_CACHE) return undefined;
  const folder = join(home, name);
  const isOurs = (/** @type {string} */ path) => lstatSync(path).uid === process.getuid?.();
  try {
    // With sudo the home is often another user's, who could not use a folder that root has made.
    if (!existsSync(folder) && isOurs(home)) mkdirSync(folder, { recursive: true, mode: 0o700 });
    return isOurs(folder) && (lstatSync(folder).mode & 0o170777) === 0o040700 ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** @returns {{ exports: typeof import("../src/main.ts"), keep?: () => void }} */
function load() {
  const folder = cacheFolder();
  if (folder === undefined) return { exports: require(program) };
  // Node's own cache is for the packages. It stores code before it has run, without the functions
  // that V8 compiles when they are first called: 550 of the program, 5 to 7 ms of every start.
  enableCompileCache?.(folder);
  const { loadCompiled } = require("./compile-cache.js");
  return loadCompiled(program, folder);
}

const { exports: main, keep } = load();
main.start(process.argv).then((exitCode) => {
  keep?.();
  // At once: Node would take itself down piece by piece, for milliseconds. And a name lookup that
  // waits for a silent name server cannot be cancelled: it would keep the process for seconds.
  process.exit(exitCode);
});
