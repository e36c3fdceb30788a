/** Copies one tree for `cp`, and says what was copied. */

import { type CopyTreeOptions, copyTree, type TreePlace } from "../recipes/trees/copy-tree.ts";
import type { Result } from "../results/result.ts";
import type { Context } from "./command.ts";
import { Unreadable } from "./unreadable.ts";
import { explainWrite, reportWritten } from "./write-options.ts";

export interface TreeCopy {
  readonly from: TreePlace;
  /** `name` is how the target is shown. */
  readonly to: TreePlace & { readonly name: string };
  readonly options: CopyOptions;
}

interface CopyOptions
  extends Required<Pick<CopyTreeOptions, "preserve" | "exact" | "onConflict" | "dryRun">> {
  readonly recursive: boolean;
}

export async function* copyAndReport(
  { signal, output }: Context,
  { from, to, options: { recursive, ...options } }: TreeCopy,
): AsyncGenerator<Result> {
  const unreadable = new Unreadable();
  const { dryRun } = options;
  try {
    const { ephemerals, ...written } = await copyTree(from, to, {
      ...options,
      signal,
      onFailure: unreadable.onFailure,
      ...(!recursive && { maxDepth: 0 }),
      onProgress: (done) => output.onProgress?.(done, "znodes copied"),
    });
    yield* reportWritten(written, { path: to.name, ephemerals, isDryRun: dryRun });
  } catch (error) {
    throw explainWrite(error, to.name);
  }
  yield* unreadable.report();
}
