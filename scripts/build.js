/** Bundles the program and the library to dist/. `--quiet` says nothing; `--sourcemap` writes source maps too. */
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { build } from "esbuild";
import { plugins } from "./bundle-plugins.js";
import { compileProgram, forgetCompiled } from "./compile.js";
import { buildProgram } from "./program.js";

const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");
const flags = new Set(process.argv.slice(2));

const common = {
  absWorkingDir: root,
  outdir: dist,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  // Names stay, so that stack traces can be read.
  minifyWhitespace: true,
  minifySyntax: true,
  sourcemap: flags.has("--sourcemap"),
  metafile: true,
  plugins,
  // The CommonJS packages call require for node's own modules, which a module of the newer kind does not have.
  banner: { js: 'import{createRequire as requireFrom}from"node:module";const require=requireFrom(import.meta.url);' },
  logLevel: "warning",
};

const startedAt = performance.now();
await mkdir(dist, { recursive: true });
await forgetCompiled(dist);
const [program, ...others] = await Promise.all([
  buildProgram(common),
  build({ ...common, entryPoints: ["src/index.ts"] }),
  build({ ...common, entryPoints: ["src/io/watchdog.ts"] }),
]);
const metafiles = [...program, ...others.map(({ metafile }) => metafile)];
const metafile = {
  inputs: Object.assign({}, ...metafiles.map(({ inputs }) => inputs)),
  outputs: Object.assign({}, ...metafiles.map(({ outputs }) => outputs)),
};
await writeFile(join(dist, "meta.json"), JSON.stringify(metafile));

const current = new Set(Object.keys(metafile.outputs).map((path) => basename(path)));
for (const name of await readdir(dist)) {
  if (/\.c?js(\.map|\.cache)?$/.test(name) && !current.has(name)) await rm(join(dist, name));
}

const isCompiled = await compileProgram(dist);

if (!flags.has("--quiet")) {
  const outputs = Object.values(metafile.outputs);
  const kilobytes = Math.round(outputs.reduce((sum, { bytes }) => sum + bytes, 0) / 1024);
  console.log(
    `dist/: ${outputs.length} files, ${kilobytes} kB, built in ${Math.round(performance.now() - startedAt)} ms${isCompiled ? "" : ", not compiled"}`,
  );
}
