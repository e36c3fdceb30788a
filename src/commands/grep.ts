import { isUtf8 } from "node:buffer";
import { OperationError, UsageError } from "../errors.ts";
import { readTree } from "../recipes/trees/read-tree.ts";
import type { GrepMatch } from "../results/trees.ts";
import { flag, optional, required, word, znodePath } from "./arguments.ts";
import { defineCommand } from "./command.ts";
import { Unreadable } from "./unreadable.ts";

export const grep = defineCommand({
  details:
    "Searches the data of PATH and everything below it, line by line, for a regular expression. " +
    "Data that is not UTF-8 text is only " +
    "said to match. The exit code is 1 when nothing matches.",
  examples: [
    "grep -i password /app",
    "grep -F '10.0.0.7' /",
    "grep -l timeout /app",
    "grep -z error /app",
  ],
  effect: "read",
  args: {
    pattern: required(word, "a regular expression, as JavaScript has them; with -F a text"),
    path: optional(znodePath, "where to search (the working znode, when left out)"),
  },
  options: {
    ignoreCase: flag("-i", "small and capital letters are the same"),
    list: flag("-l", "print only the paths that match"),
    count: flag("-c", "print for each path how many of its lines match"),
    fixed: flag("-F", "the pattern is a text, not a regular expression"),
    gzip: flag("-z", "search what gzip'd data unpacks to"),
  },
  async *run(
    context,
    { pattern, path = context.shell.cwd },
    { ignoreCase, list, count, fixed, gzip },
  ) {
    const { signal, output } = context;
    const expression = toExpression(pattern, { ignoreCase, fixed });
    const unreadable = new Unreadable();
    const { onFailure } = unreadable;
    const unpack = gzip ? await unpacker(onFailure) : undefined;
    let hasMatched = false;
    let searched = 0;
    for await (const entries of readTree(context.session(), path, { signal, onFailure })) {
      const matches: GrepMatch[] = [];
      for (const entry of entries) {
        const data = unpack ? unpack(entry.path, entry.data ?? null) : entry.data;
        if (!data || data.length === 0) continue;
        for (const match of search(entry.path, data, expression)) {
          if (list) matches.push({ kind: "path", path: entry.path });
          else matches.push(match);
          if (list) break;
        }
      }
      hasMatched ||= matches.length > 0;
      searched += entries.length;
      output.onProgress?.(searched, "znodes searched");
      if (matches.length > 0)
        yield { kind: "grep-matches", matches: count ? counted(matches) : matches };
      signal.throwIfAborted();
    }
    yield* unreadable.report();
    if (!hasMatched) yield { kind: "no-match" };
  },
});

function toExpression(
  pattern: string,
  { ignoreCase, fixed }: { readonly ignoreCase: boolean; readonly fixed: boolean },
): RegExp {
  const source = fixed ? pattern.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&") : pattern;
  try {
    return new RegExp(source, ignoreCase ? "iu" : "u");
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(why, { cause, hint: "-F searches for the text as it is" });
  }
}

function* search(path: string, data: Buffer, expression: RegExp): Generator<GrepMatch> {
  if (!isUtf8(data) || data.includes(0)) {
    if (expression.test(data.toString("latin1")) || expression.test(data.toString("utf8")))
      yield { kind: "binary", path };
    return;
  }
  let number = 0;
  for (const line of data.toString("utf8").split(/\r?\n/)) {
    number += 1;
    if (expression.test(line)) yield { kind: "line", path, line: number, text: line };
  }
}

function counted(matches: readonly GrepMatch[]): GrepMatch[] {
  const counts = new Map<string, number>();
  for (const { path } of matches) counts.set(path, (counts.get(path) ?? 0) + 1);
  return [...counts].map(([path, number]) => ({ kind: "count", path, count: number }));
}

type Unpack = (path: string, data: Buffer | null) => Buffer | null;

async function unpacker(onFailure: (path: string, error: Error) => void): Promise<Unpack> {
  const { isGzip, unpackGzip } = await import("../text/stored/gzip.ts");
  return (path, data) => {
    if (data === null || !isGzip(data)) return data;
    try {
      return unpackGzip(data);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      onFailure(
        path,
        new OperationError("bad-gzip", `cannot unpack ${path}: ${why}`, { cause, path }),
      );
      return null;
    }
  };
}
