// @ts-check
/**
 * Bundles to dist/: the program (main.cjs), each large package that few commands need (chalk.cjs
 * …), the watchdog and the library. `--quiet` prints nothing. docs/adr/0005-start-up.md has the
 * reasons.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");
const BY_NAME = ["chalk", "commander"];
const BY_DEFAULT = ["inquirer", "ora"];
const PACKAGES = [...BY_NAME, ...BY_DEFAULT];

/** @satisfies {import("esbuild").BuildOptions} */
const common = {
  // Not a dependency: whoever wants Kerberos installs it (docs/adr/0013-kerberos.md).
  external: ["koffi"],
  absWorkingDir: root,
  outdir: "dist",
  bundle: true,
  platform: "node",
  target: "node20",
  // Names stay, so that stack traces can be read.
  minifyWhitespace: true,
  minifySyntax: true,
  // Without esbuild's own condition "module": underscore is then one file, not 140 modules.
  conditions: [],
  logLevel: process.argv.includes("--quiet") ? "warning" : "info",
};

/**
 * CommonJS starts faster than ES modules and can be compiled from a cache on Node 20 too. An
 * import() becomes a require() at the same place: modules of ours are evaluated there, inside the
 * one file.
 * @satisfies {import("esbuild").BuildOptions}
 */
const commonJs = {
  ...common,
  format: "cjs",
  outExtension: { ".js": ".cjs" },
  supported: { "dynamic-import": false },
  define: { "import.meta.url": "importMetaUrl" },
  banner: { js: 'const importMetaUrl=require("node:url").pathToFileURL(__filename).href;' },
};

const asEntry = (/** @type {string} */ name) => ({ in: name, out: name });

await rm(join(root, "dist"), { recursive: true, force: true });
await Promise.all([
  build({
    ...commonJs,
    entryPoints: ["src/main.ts"],
    alias: Object.fromEntries(PACKAGES.map((name) => [name, `./${name}.cjs`])),
    external: [...common.external, ...PACKAGES.map((name) => `./${name}.cjs`)],
  }),
  build({
    ...commonJs,
    entryPoints: [
      ...BY_NAME.map(asEntry),
      { in: "src/processes/watchdog.ts", out: "watchdog" },
      { in: "src/session/zookeeper/sasl/gssapi/gssapi-program.ts", out: "gssapi" },
    ],
  }),
  // Imported from CommonJS, what `import x` finds is all of the module's exports.
  build({
    ...commonJs,
    entryPoints: BY_DEFAULT.map(asEntry),
    footer: { js: "module.exports=module.exports.default;" },
  }),
  build({
    ...common,
    entryPoints: ["src/index.ts"],
    format: "esm",
    // node-zookeeper-client is CommonJS and calls require for Node's own modules.
    banner: {
      js: 'import{createRequire}from"node:module";const require=createRequire(import.meta.url);',
    },
  }),
]);
