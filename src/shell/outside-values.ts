/** Values of a line that come from stdin or a file, or from lines within the line (`txn`). */
import { Outside, type Reader } from "../commands/arguments.ts";
import type { Context } from "../commands/command.ts";
import { UsageError } from "../errors.ts";
import { type Io, readAll } from "../io/io.ts";
import { cannotRead } from "../text/file-failures.ts";
import type { Invocation } from "./parsing/parser.ts";

export type Values = Invocation["args"];

export function hasOutside(values: Values): boolean {
  for (const key in values) {
    const value = values[key];
    if (value instanceof Outside) return true;
    if (Array.isArray(value) && value.some((one) => one instanceof Outside)) return true;
  }
  return false;
}

export async function fetchOutside(values: Values, reader: Reader): Promise<Values> {
  if (!hasOutside(values)) return values;
  const fetchOne = async (value: unknown) =>
    value instanceof Outside ? await value.read(reader) : value;
  const entries = Object.entries(values);
  const fetched = entries.map(async ([key, value]) => [
    key,
    await (Array.isArray(value) ? Promise.all(value.map(fetchOne)) : fetchOne(value)),
  ]);
  return Object.fromEntries(await Promise.all(fetched));
}

/** A glob of the line, with the znodes that it stands for. */
export interface MatchedGlob {
  readonly glob: string;
  readonly paths: readonly string[];
}

interface Sources {
  readonly io: Io;
  readonly context: Pick<Context, "signal" | "session">;
  /** Reads the bytes for `-`. Default: stdin. */
  readonly readStdin?: () => Promise<Buffer>;
}

export function outsideReader({
  io,
  context,
  readStdin = () => readAll(io.stdin, context.signal),
}: Sources): Reader & { readonly globs: readonly MatchedGlob[] } {
  let isStdinTaken = false;
  const globs: MatchedGlob[] = [];
  const reader: Reader = {
    async stdin() {
      if (isStdinTaken)
        throw new UsageError("stdin can be read only once", { hint: "write - only once" });
      isStdinTaken = true;
      return readStdin();
    },
    async file(path) {
      try {
        return await io.files.read(path);
      } catch (cause) {
        throw new UsageError(cannotRead(path, cause), { cause });
      }
    },
    async paths({ path, glob }) {
      const { matchGlob } = await import("../recipes/trees/match-glob.ts");
      const { session, signal } = context;
      const paths = await matchGlob(session(), { path, glob }, { signal });
      if (paths === undefined) return [path];
      globs.push({ glob, paths });
      return paths;
    },
    async lines(text, how) {
      const { parseInnerLines } = await import("./parsing/inner-lines.ts");
      return parseInnerLines(text, how, (values) => fetchOutside(values, reader));
    },
  };
  return { ...reader, globs };
}
