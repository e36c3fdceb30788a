import { cannotRead, UsageError } from "../errors.ts";
import type { FrontEnd } from "./front-end.ts";
import { runOneShot } from "./one-shot.ts";
import type { ScriptSource } from "./scripts/script.ts";

/** Runs one command, a script, the interactive shell, or a script from stdin. */
export async function runFrontEnd(words: readonly string[], frontEnd: FrontEnd): Promise<number> {
  const { io, settings } = frontEnd;
  const { script, scriptFile } = settings;
  const option = script !== undefined ? "-c" : scriptFile !== undefined ? "-f" : undefined;
  if (words.length > 0) {
    if (option === undefined) return runOneShot(words, frontEnd);
    throw new UsageError(`${option} cannot be combined with a command (${words[0]})`);
  }
  if (script !== undefined && scriptFile !== undefined)
    throw new UsageError("-c cannot be combined with -f");
  if (option === undefined && io.stdin.isTTY && io.stdout.isTTY) {
    const { runRepl } = await import("./interactive/repl.ts");
    return runRepl(frontEnd);
  }
  const { runScript } = await import("./scripts/script.ts");
  return runScript(await scriptSource(frontEnd), frontEnd);
}

async function scriptSource({ io, settings, dialect }: FrontEnd): Promise<ScriptSource> {
  const { script, scriptFile = "-" } = settings;
  // zkCli has no -c, so its text is parsed as zksh, also in the zkcli dialect.
  if (script !== undefined) return { name: "-c", text: [script] };
  const read =
    dialect === "zkcli"
      ? { read: (await import("./parsing/zkcli-lexer.ts")).readZkcliStatements }
      : {};
  if (scriptFile === "-") return { name: "stdin", text: io.stdin.stream, ...read };
  try {
    return { name: scriptFile, text: [await io.files.read(scriptFile)], ...read };
  } catch (cause) {
    throw new UsageError(cannotRead(scriptFile, cause), { cause });
  }
}
