/** Paths that may be globs: `*`, `?` and `[…]` stand for names of one level. */
import { hasGlob } from "../text/glob.ts";
import { Outside, type ValueParser, znodePath } from "./arguments.ts";

/**
 * The paths that one word stands for. Quoted characters, values of variables and words after `--`
 * have no meaning as a glob, nor has anything in zkCli's dialect.
 */
export const globPaths: ValueParser<readonly string[]> = (text, where) => {
  const path = znodePath(text, where) as string;
  const { glob: written = text, isVerbatim = false, isLiteral = false } = where;
  if (isVerbatim || isLiteral || !hasGlob(written)) return [path];
  const glob = znodePath(written, where) as string;
  return new Outside((reader) => reader.paths({ path, glob }));
};

/** A path that is a glob. */
export interface PathGlob {
  /** The znode of exactly that name: where it exists, it alone is meant. */
  readonly path: string;
  /** The absolute glob. */
  readonly glob: string;
}
