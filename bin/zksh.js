#!/usr/bin/env node
// CommonJS, as package.json beside this file says, and loaded without node's loaders: those of newer modules take many
// milliseconds, and none of them can use what V8 has compiled before.
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");
const { Script } = require("node:vm");

const Module = module.constructor;
const dist = join(__dirname, "../dist");
const loaded = new Map();

/** A file of dist/, evaluated once. */
function load(name) {
  const known = loaded.get(name);
  if (known) return known.exports;
  const filename = join(dist, name);
  const source = readFileSync(filename, "utf8");
  const loading = new Module(filename);
  loading.require = provide;
  Object.defineProperty(loading, "url", { get: () => pathToFileURL(filename).href });
  loaded.set(name, loading);
  // Node looks for source maps only in what it wraps and compiles itself.
  if (process.sourceMapsEnabled) loading._compile(unwrapped(source), filename);
  else compile(source, name).call(loading.exports, loading.exports, provide, loading);
  return loading.exports;
}

/** The function around a file's text. Stack traces name the file as the build did, wherever that was: so it is said without. */
function compile(source, name) {
  const cachedData = compiled(join(dist, name));
  return new Script(source, { filename: `zksh/dist/${name}`, cachedData }).runInThisContext();
}

/** Without that function, and every line where it was. */
function unwrapped(source) {
  const end = source.lastIndexOf("\n})");
  return source.slice(source.indexOf("\n"), end) + source.slice(end + "\n})".length);
}

/** What the build has made of the file: see scripts/compile.cjs. */
function compiled(filename) {
  try {
    const twice = readFileSync(`${filename}.cache`);
    const half = twice.length / 2;
    const once = twice.subarray(0, half);
    // V8 looks at the version and at the length, but would run into damage and crash.
    return once.equals(twice.subarray(half)) ? once : undefined;
  } catch {
    return undefined;
  }
}

/** The `require` of those files: node's own modules, packages bundled as files, and the program's parts. */
function provide(name) {
  if (!name.startsWith("./")) return require(name);
  if (name.endsWith(".cjs")) return load(name);
  const known = loaded.get(name);
  if (known) return known.exports;
  const exports = load("main.cjs").part(name) ?? load("rest.cjs").part(name);
  loaded.set(name, { exports });
  return exports;
}

load("main.cjs")
  .start(process.argv)
  .then((exitCode) => {
    // At once: node would take down piece by piece what it has put up, for milliseconds. And a name lookup cannot be
    // cancelled: one that a silent name server has left hanging would keep the process for seconds.
    process.exit(exitCode);
  });
