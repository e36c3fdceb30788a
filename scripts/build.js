/** Bundles the program and the library to dist/. `--quiet` says nothing; `--sourcemap` writes source maps too. */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");
const flags = new Set(process.argv.slice(2));
const require = createRequire(import.meta.url);

/** Packages that few commands need: each is a file of its own, read when it is imported. */
const SEPARATE = ["chalk", "inquirer", "ora"];

/** Node's modules that packages load without needing them for most commands; each costs milliseconds at every start. */
const LATE = ["assert", "child_process", "fs", "tls"];

const separatePackages = {
  name: "separate-packages",
  setup({ onResolve }) {
    onResolve({ filter: /^[a-z]/ }, ({ path, kind }) =>
      kind === "dynamic-import" && SEPARATE.includes(path) ? { path: `./${path}.js`, external: true } : undefined,
    );
  },
};

/** The module's members as getters, so that it is loaded when the first of them is used. */
const lateBuiltins = {
  name: "late-builtins",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^(node:)?(${LATE.join("|")})$`) }, ({ path, namespace }) => {
      const name = path.replace(/^node:/, "");
      return namespace === "late" ? { path: `node:${name}`, external: true } : { path: name, namespace: "late" };
    });
    onLoad({ filter: /.*/, namespace: "late" }, ({ path: name }) => {
      const builtin = require(`node:${name}`);
      const members = Object.keys(builtin).map(
        (key) => `${JSON.stringify(key)}:{enumerable:true,get:()=>load().${key}}`,
      );
      const target = typeof builtin === "function" ? "(...args)=>load()(...args)" : "{}";
      const load = `let loaded;const load=()=>loaded??=require("node:${name}");`;
      return { contents: `${load}module.exports=Object.defineProperties(${target},{${members.join(",")}});` };
    });
  },
};

/** node-zookeeper-client takes one function of underscore; the whole of it would be a quarter of the program. */
const oneOfUnderscore = {
  name: "one-of-underscore",
  setup({ onResolve, onLoad, resolve }) {
    onResolve({ filter: /^underscore$/ }, async ({ importer, resolveDir, kind }) => {
      const used = new Set((await readFile(importer, "utf8")).match(/\bu\.\w+/g));
      if (used.size !== 1 || !used.has("u.shuffle"))
        throw new Error(`${importer} uses more of underscore than u.shuffle`);
      return { ...(await resolve("underscore/cjs/shuffle.js", { resolveDir, kind })), namespace: "shuffle-only" };
    });
    onLoad({ filter: /.*/, namespace: "shuffle-only" }, ({ path }) => ({
      contents: `exports.shuffle=require(${JSON.stringify(path)});`,
      resolveDir: root,
    }));
  },
};

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
  plugins: [separatePackages, lateBuiltins, oneOfUnderscore],
  // The CommonJS packages call require for node's own modules, which a module of the newer kind does not have.
  banner: { js: 'import{createRequire as requireFrom}from"node:module";const require=requireFrom(import.meta.url);' },
  logLevel: "warning",
};

const startedAt = performance.now();
await mkdir(dist, { recursive: true });
const builds = await Promise.all([
  // One file: node's loader spends more time on each further file than V8 on skimming code that is not run. Modules
  // behind import() are still only evaluated when they are asked for.
  build({ ...common, entryPoints: ["src/main.ts"] }),
  build({ ...common, entryPoints: ["src/index.ts"] }),
  build({ ...common, entryPoints: ["src/io/watchdog.ts"] }),
  build({ ...common, entryPoints: SEPARATE.map((name) => ({ in: name, out: name })) }),
]);
const metafile = {
  inputs: Object.assign({}, ...builds.map((one) => one.metafile.inputs)),
  outputs: Object.assign({}, ...builds.map((one) => one.metafile.outputs)),
};
await writeFile(join(dist, "meta.json"), JSON.stringify(metafile));

const current = new Set(Object.keys(metafile.outputs).map((path) => basename(path)));
for (const name of await readdir(dist)) {
  if (/\.js(\.map)?$/.test(name) && !current.has(name)) await rm(join(dist, name));
}

if (!flags.has("--quiet")) {
  const outputs = Object.values(metafile.outputs);
  const kilobytes = Math.round(outputs.reduce((sum, { bytes }) => sum + bytes, 0) / 1024);
  console.log(
    `dist/: ${outputs.length} files, ${kilobytes} kB, built in ${Math.round(performance.now() - startedAt)} ms`,
  );
}
