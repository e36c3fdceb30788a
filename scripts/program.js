/**
 * Bundles the program into files that bin/zksh.js loads. dist/main.cjs has what every one-shot needs, dist/rest.cjs everything
 * else: whatever goes on for longer than a moment has read both when it starts, and an update of the package cannot come
 * between its parts. The packages that few commands need are files of their own.
 */
import { basename } from "node:path";
import { build } from "esbuild";

const ENTRY = "src/main.ts";

/** The commands of every day. What they have beside the rest of main.cjs costs the others nothing that can be measured. */
const EVERYDAY = ["create", "delete", "exists", "get", "ls", "set", "stat"];

/** What main.ts imports late, so that the connection is made meanwhile, and yet for every one-shot. */
const ALWAYS = [
  "src/session/zookeeper/client.ts",
  "src/shell/line-parser.ts",
  "src/shell/execute.ts",
  "src/render/text.ts",
  ...EVERYDAY.map((name) => `src/commands/${name}.ts`),
];

const SEPARATE = ["chalk", "inquirer", "ora"];

/** Returns esbuild's metafiles of what it has written. */
export async function buildProgram(common) {
  const parts = await split(common);
  const toRest = importedBy(parts.inRest, parts);
  const merged = await Promise.all([
    merge(parts.inMain, `export{start}from"./main.js";${exportOf(parts.inMain, toRest)}`, parts, {
      ...common,
      name: "main",
    }),
    merge(parts.inRest, exportOf(parts.inRest, parts.inRest), parts, { ...common, name: "rest" }),
    ...SEPARATE.map((name) => build({ ...common, ...asCommonJs, entryPoints: [{ in: name, out: name }] })),
  ]);
  return merged.map(({ metafile }) => metafile);
}

/** Modules → parts, so that no module is in two of them. Esbuild can do this for newer modules only. */
async function split(common) {
  const { outputFiles, metafile } = await build({
    ...common,
    plugins: [separatePackages, ...common.plugins],
    entryPoints: [ENTRY],
    format: "esm",
    banner: {},
    splitting: true,
    write: false,
    sourcemap: common.sourcemap && "inline",
  });
  const contents = new Map(outputFiles.map(({ path, text }) => [nameOf(path), text]));
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [nameOf(path), output]));
  const inMain = new Set();
  const add = (name) => {
    if (inMain.has(name) || !outputs.has(name)) return;
    inMain.add(name);
    for (const { path, kind } of outputs.get(name).imports) if (kind === "import-statement") add(nameOf(path));
  };
  for (const [name, { entryPoint }] of outputs) if ([ENTRY, ...ALWAYS].includes(entryPoint)) add(name);
  return { contents, outputs, inMain, inRest: new Set([...outputs.keys()].filter((name) => !inMain.has(name))) };
}

const separatePackages = {
  name: "separate-packages",
  setup({ onResolve }) {
    onResolve({ filter: /^[a-z]/ }, ({ path, kind }) =>
      kind === "dynamic-import" && SEPARATE.includes(path) ? { path: `./${path}.cjs`, external: true } : undefined,
    );
  },
};

function importedBy(names, { outputs }) {
  return new Set([...names].flatMap((name) => outputs.get(name).imports.map(({ path }) => nameOf(path))));
}

function exportOf(names, wanted) {
  const members = [...names]
    .filter((name) => wanted.has(name))
    .map((name) => `${JSON.stringify(name)}:()=>require(${JSON.stringify(name)})`);
  return `export const parts={${members.join(",")}};`;
}

const asCommonJs = {
  format: "cjs",
  // As node wraps such files when it loads them: bin/zksh.js can compile the text as it is, without a copy.
  banner: { js: "(function(exports,require,module){" },
  footer: { js: "})" },
  outExtension: { ".js": ".cjs" },
  // An import() becomes a require(), which is asked of bin/zksh.js.
  supported: { "dynamic-import": false },
  define: { "import.meta.url": "module.url" },
};

/** One file to read and to compile; its parts are still evaluated one by one. */
async function merge(names, entry, { contents, outputs }, { name, ...common }) {
  const { metafile } = await build({
    ...common,
    ...asCommonJs,
    stdin: { contents: entry, sourcefile: name },
    entryNames: name,
    plugins: [partsFrom(contents, names)],
  });
  const sources = [...names].flatMap((part) => Object.entries(outputs.get(part).inputs));
  for (const output of Object.values(metafile.outputs)) output.inputs = Object.fromEntries(sources);
  return { metafile };
}

/** Parts by name, as if they were files; those of the other file are asked for when it runs. */
function partsFrom(contents, names) {
  return {
    name: "parts",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\.\// }, ({ path }) =>
        names.has(path) ? { path, namespace: "part" } : { path, external: true },
      );
      onLoad({ filter: /.*/, namespace: "part" }, ({ path }) => ({ contents: contents.get(path) }));
    },
  };
}

function nameOf(path) {
  return `./${basename(path)}`;
}
