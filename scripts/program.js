/**
 * Bundles the program into files that bin/zksh.js loads. dist/main.cjs has what every one-shot needs, dist/rest.cjs everything
 * else: whatever goes on for longer than a moment has read both when it starts, and an update of the package cannot come
 * between its parts. The packages that few commands need are files of their own.
 */
import { readFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { build } from "esbuild";

const ENTRY = "src/main.ts";

/** The commands of every day. What they have beside the rest of main.cjs costs the others nothing that can be measured. */
const EVERYDAY = ["create", "delete", "exists", "get", "ls", "set", "stat"];

/** What main.ts imports late, and yet for every one-shot. */
const ALWAYS = [
  "src/session/zookeeper/client.ts",
  "src/shell/line-parser.ts",
  "src/shell/execute.ts",
  "src/render/text.ts",
  ...EVERYDAY.map((name) => `src/commands/${name}.ts`),
];

/**
 * What modules of main.cjs call so rarely that it is left in rest.cjs, which is loaded when they do: functions alone. Every
 * function that is not there is one less to create, and V8's garbage collector stays asleep until a `get` is over.
 */
const RARELY = {
  "src/commands/fenced.ts": ["src/recipes/locks/fence.ts"],
  "src/render/text.ts": ["config", "help", "lock", "lock-report", "quota", "watch"].map(
    (name) => `src/render/${name}.ts`,
  ),
  "src/shell/shell-state.ts": ["src/recipes/locks/holder-record.ts", "src/recipes/locks/own-ticket.ts"],
};

const SEPARATE = ["chalk", "inquirer", "ora"];

/** Returns esbuild's metafiles of what it has written. */
export async function buildProgram(common) {
  const parts = await split(common);
  const toRest = importedBy(parts.inRest, parts);
  const merged = await Promise.all([
    merge(parts.inMain, mainEntry(toRest, parts), parts, { ...common, name: "main" }),
    merge(parts.inRest, restEntry(parts), parts, { ...common, name: "rest" }),
    ...SEPARATE.map((name) => build({ ...common, ...asCommonJs, entryPoints: [{ in: name, out: name }] })),
  ]);
  return merged.map(({ metafile }) => metafile);
}

/** Modules → parts, so that no module is in two of them. Esbuild can do this for newer modules only. */
async function split(common) {
  const { outputFiles, metafile } = await build({
    ...common,
    plugins: [separatePackages, rarely, notLate, ...common.plugins],
    entryPoints: [ENTRY, ...Object.values(RARELY).flat()],
    entryNames: "[name]-[hash]",
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
  add(partOf(ENTRY, outputs));
  const isInMain = (module) => [...inMain].some((name) => module in outputs.get(name).inputs);
  refuse(
    "ALWAYS names what main.cjs does not have",
    ALWAYS.filter((module) => !isInMain(module)),
  );
  refuse("RARELY names what main.cjs has all the same", Object.values(RARELY).flat().filter(isInMain));
  return { contents, outputs, inMain, inRest: new Set([...outputs.keys()].filter((name) => !inMain.has(name))) };
}

/** A module that was moved or renamed would cost every start its time, and nobody would notice. */
function refuse(why, modules) {
  if (modules.length > 0) throw new Error(`${why}: ${modules.join(", ")}`);
}

const separatePackages = {
  name: "separate-packages",
  setup({ onResolve }) {
    onResolve({ filter: /^[a-z]/ }, ({ path, kind }) =>
      kind === "dynamic-import" && SEPARATE.includes(path) ? { path: `./${path}.cjs`, external: true } : undefined,
    );
  },
};

/**
 * What is imported late, but always, is imported at once: what is evaluated by and by takes a wrapper for each module, and an
 * object of all its exports.
 */
const notLate = {
  name: "not-late",
  setup({ onLoad, initialOptions: { absWorkingDir } }) {
    onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const imports = [];
      const contents = source.replace(/\bimport\("(\.[^"]+)"\)/g, (late, name) => {
        if (!ALWAYS.includes(relative(absWorkingDir, join(dirname(path), name)))) return late;
        imports.push(`import*as always${imports.length} from${JSON.stringify(name)};`);
        return `Promise.resolve(always${imports.length - 1})`;
      });
      // Behind it, so that every line stays where it was.
      return { contents: `${contents}\n${imports.join("")}`, loader: "ts" };
    });
  },
};

/** Functions that load the module when they are called. */
const rarely = {
  name: "rarely",
  setup({ onResolve, onLoad, initialOptions: { absWorkingDir } }) {
    const nameFrom = (path) => relative(absWorkingDir, path);
    onResolve({ filter: /^\.\.?\// }, ({ path, importer, resolveDir, namespace }) => {
      if (namespace === "rarely") return { path, external: true };
      const name = nameFrom(join(resolveDir, path));
      return RARELY[nameFrom(importer)]?.includes(name) ? { path: name, namespace: "rarely" } : undefined;
    });
    onLoad({ filter: /.*/, namespace: "rarely" }, async ({ path }) => {
      const source = await readFile(join(absWorkingDir, path), "utf8");
      const functions = [...source.matchAll(/^export (?:async )?function (\w+)/gm)].map(([, name]) => name);
      const call = (name) =>
        `export const ${name}=(...args)=>require(${JSON.stringify(`./${path}`)}).${name}(...args);`;
      return { contents: functions.map(call).join("") };
    });
  },
};

function partOf(module, outputs) {
  return [...outputs].find(([, { entryPoint }]) => entryPoint === module)?.[0];
}

function importedBy(names, { outputs }) {
  return new Set([...names].flatMap((name) => outputs.get(name).imports.map(({ path }) => nameOf(path))));
}

/** What main.cjs exports: the program, and for rest.cjs its parts. An object of those is made when it is asked for. */
function mainEntry(wanted, { inMain, outputs }) {
  const shared = [...inMain].filter((name) => wanted.has(name)).map((name, index) => ({ name, index }));
  const imports = shared.map(({ name, index }) => {
    const members = outputs.get(name).exports.map((member) => `${member} as part${index}_${member}`);
    return `import{${members.join(",")}}from${JSON.stringify(name)};`;
  });
  const cases = shared.map(({ name, index }) => {
    const members = outputs.get(name).exports.map((member) => `get ${member}(){return part${index}_${member}}`);
    return `case${JSON.stringify(name)}:return{${members.join(",")}};`;
  });
  const start = `export{start}from${JSON.stringify(partOf(ENTRY, outputs))};`;
  return `${imports.join("")}${start}export function part(name){switch(name){${cases.join("")}}}`;
}

/** The parts of rest.cjs, each evaluated when it is asked for. Those that are asked for by main.cjs's own hand are known by their modules. */
function restEntry({ inRest, outputs }) {
  const known = Object.values(RARELY).flat();
  const names = [
    ...[...inRest].map((name) => [name, name]),
    ...known.map((module) => [`./${module}`, partOf(module, outputs)]),
  ];
  const cases = names.map(([name, part]) => `case${JSON.stringify(name)}:return require(${JSON.stringify(part)});`);
  return `export function part(name){switch(name){${cases.join("")}}}`;
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

/** One file to read and to compile. */
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
