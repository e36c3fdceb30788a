/** What the bundler has to be told about packages and about node's own modules. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);

/** Node's modules that most commands do without; loading one takes up to three milliseconds of every start. */
const LATE = [
  "assert",
  "child_process",
  "crypto",
  "dns/promises",
  "fs/promises",
  "os",
  "readline",
  "timers/promises",
  "tls",
  "tty",
];

/** These modules are loaded when the first of their functions is called. */
const lateBuiltins = {
  name: "late-builtins",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^(node:)?(${LATE.join("|")})$`) }, ({ path, namespace, kind }) => {
      const name = path.replace(/^node:/, "");
      if (namespace.startsWith("late")) return { path: `node:${name}`, external: true };
      return { path: name, namespace: kind === "require-call" ? "late-for-require" : "late" };
    });
    onLoad({ filter: /.*/, namespace: "late" }, ({ path }) => ({
      contents: `${loader(`node:${path}`)}${functionsOf(`node:${path}`)}export default ${membersOf(`node:${path}`)};`,
    }));
    onLoad({ filter: /.*/, namespace: "late-for-require" }, ({ path }) => ({
      contents: `${loader(`node:${path}`)}module.exports=${membersOf(`node:${path}`)};`,
    }));
  },
};

/** node-zookeeper-client makes a hundred classes of records when it is loaded; our connection has records of its own. */
const lateRecords = {
  name: "late-records",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\/jute$/ }, ({ resolveDir, namespace }) => {
      if (namespace === "late-records") return undefined;
      // The path is part of what is written, and must not name the folders of whoever builds.
      return { path: "jute", namespace: "late-records", pluginData: join(resolveDir, "jute/index.js") };
    });
    onLoad({ filter: /.*/, namespace: "late-records" }, ({ pluginData: file }) => ({
      contents: `${loader(file)}module.exports=${membersOf(file)};`,
      resolveDir: dirname(file),
    }));
  },
};

function loader(name) {
  return `let loaded;const load=()=>loaded??=require(${JSON.stringify(name)});`;
}

/** Functions alone: other members have to be reached through the default export, and the bundler says so. */
function functionsOf(name) {
  return Object.entries(require(name))
    .filter(([key, member]) => typeof member === "function" && /^[a-z]\w*$/.test(key))
    .map(([key]) => `const late_${key}=(...args)=>load().${key}(...args);export{late_${key} as ${key}};`)
    .join("");
}

/** Everything else of the module. */
function membersOf(name) {
  const target = typeof require(name) === "function" ? callable(name) : "{}";
  return `/* @__PURE__ */ new Proxy(${target},{get:(_,key)=>load()[key]})`;
}

/** An assertion that holds needs nobody to report it. */
function callable(name) {
  return name === "node:assert" ? "(...args)=>args[0]||load()(...args)" : "(...args)=>load()(...args)";
}

/** node-zookeeper-client takes one function of underscore, and that is made of twenty-five modules. */
const oneOfUnderscore = {
  name: "one-of-underscore",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^underscore$/ }, async ({ importer }) => {
      const used = new Set((await readFile(importer, "utf8")).match(/\bu\.\w+/g));
      if (used.size !== 1 || !used.has("u.shuffle"))
        throw new Error(`${importer} uses more of underscore than u.shuffle`);
      return { path: "underscore", namespace: "shuffle-only" };
    });
    onLoad({ filter: /.*/, namespace: "shuffle-only" }, () => ({ contents: `exports.shuffle=${shuffle};` }));
  },
};

function shuffle(list) {
  const shuffled = [...list];
  for (let left = shuffled.length; left > 1; left--) {
    const picked = Math.floor(Math.random() * left);
    [shuffled[left - 1], shuffled[picked]] = [shuffled[picked], shuffled[left - 1]];
  }
  return shuffled;
}

export const plugins = [lateBuiltins, lateRecords, oneOfUnderscore];
