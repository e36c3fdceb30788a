// @ts-check
/** Keeps V8's compiled code of a CommonJS file between runs, by the documented API of node:vm. */
const { readFileSync, renameSync, rmSync, writeFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { dirname, join } = require("node:path");
const { Script } = require("node:vm");
const { crc32 } = require("node:zlib");

/** `keep`, called at the end of a run, stores what V8 has compiled until then. */
exports.loadCompiled = (/** @type {string} */ filename, /** @type {string} */ folder) => {
  // Node has crc32 since 20.15.
  if (crc32 === undefined) return { exports: require(filename) };
  const source = readFileSync(filename);
  const cache = join(folder, `${process.version}-${process.arch}-${crc32(source).toString(16)}`);
  // V8 checks its own version and flags, but damaged data would crash it.
  const checksumOf = (/** @type {Buffer} */ data) =>
    Buffer.from(Uint32Array.of(crc32(data)).buffer);
  let cachedData;
  try {
    const bytes = readFileSync(cache);
    const data = bytes.subarray(0, -4);
    if (bytes.subarray(-4).equals(checksumOf(data))) cachedData = data;
  } catch {}
  const text = `(function(exports,require,module,__filename,__dirname){${source}\n})`;
  const script = new Script(text, { filename, ...(cachedData && { cachedData }) });
  const loaded = { exports: /** @type {any} */ ({}) };
  script.runInThisContext()(
    loaded.exports,
    createRequire(filename),
    loaded,
    filename,
    dirname(filename),
  );
  if (script.cachedDataRejected === false) return loaded;
  const keep = () => {
    const temporary = `${cache}.${process.pid}`;
    try {
      const data = script.createCachedData();
      writeFileSync(temporary, Buffer.concat([data, checksumOf(data)]), {
        mode: 0o600,
        flag: "wx",
      });
      renameSync(temporary, cache);
    } catch {
      rmSync(temporary, { force: true });
    }
  };
  return { ...loaded, keep };
};
