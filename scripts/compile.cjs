/**
 * Preloaded by the build (node --require) into a run of bin/zksh.js: when that ends, what V8 has compiled of the files in dist/
 * is kept beside them, the functions that were called included. Twice, because V8 trusts such a file blindly: bin/zksh.js
 * compares.
 */
const { existsSync, writeFileSync } = require("node:fs");
const { basename, join } = require("node:path");
const vm = require("node:vm");

const scripts = new Map();

vm.Script = class extends vm.Script {
  constructor(source, options) {
    super(source, options);
    scripts.set(options.filename, this);
  }
};

// After all listeners of the exit: what they call is part of it.
const reallyExit = process.reallyExit;
process.reallyExit = (exitCode) => {
  keepCompiled(exitCode);
  reallyExit.call(process, exitCode);
};

function keepCompiled(exitCode) {
  if (exitCode !== 0) return;
  for (const [name, script] of scripts) {
    const filename = join(__dirname, "../dist", basename(name));
    // The first run decides: what a plain `get` does not call, it need not load either.
    if (existsSync(`${filename}.cache`)) continue;
    const compiled = script.createCachedData();
    writeFileSync(`${filename}.cache`, Buffer.concat([compiled, compiled]));
  }
}
