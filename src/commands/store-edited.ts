/** Stores what `edit` has got from the editor, or shows what another client has written. */
import { ConflictError, NoNodeError } from "../errors.ts";
import { readIfThere, setIfUnchanged } from "../recipes/set-if-unchanged.ts";
import type { Result } from "../results/result.ts";
import type { Data, Session, Stat } from "../session/session.ts";
import { quoteWord } from "../text/quote-word.ts";
import type { Context } from "./command.ts";
import { namingParent } from "./write-failures.ts";

export interface EditedText {
  readonly path: string;
  /** What the editor was given; undefined for a znode that did not exist. */
  readonly before: Data | undefined;
  readonly text: Buffer;
  /** Where the text is, for messages. */
  readonly file: string;
}

/** Throws ConflictError after the difference, and NoNodeError for a znode that was deleted. */
export async function* storeEdited(
  { shell, signal, writes }: Context,
  edited: EditedText,
): AsyncGenerator<Result> {
  const { path, before, text, file } = edited;
  // The session may have expired while the editor ran: the version check protects the znode.
  const session = writes.guard(await shell.session(), "edit");
  if (before === undefined) {
    const stat = await createUnlessThere(session, edited, signal);
    if (stat) return yield { kind: "changed", path, stat, withStat: false, isNew: true };
  }
  const outcome = before
    ? await setIfUnchanged(session, path, text, { before: before.stat, signal })
    : undefined;
  if (outcome?.kind === "set")
    return yield { kind: "changed", path, stat: outcome.stat, withStat: false };
  const now = outcome?.kind === "changed" ? outcome.now : await readIfThere(session, path, signal);
  if (now === undefined) {
    throw new NoNodeError("no-node", `${path} was deleted meanwhile: nothing was written`, {
      path,
      code: -101,
      hint: `create ${quoteWord(path)} ${quoteWord(`@${file}`)} creates it with your text`,
    });
  }
  yield {
    kind: "difference",
    difference: {
      kind: "data",
      path: "",
      left: { path, data: now.data },
      right: { path: file, data: text },
    },
    sides: { left: path, right: file },
    isBrief: false,
  };
  const { version } = now.stat;
  const was = before === undefined ? "created" : "changed";
  throw new ConflictError(
    "edit-conflict",
    `${path} was ${was} meanwhile, and is at version ${version}: nothing was written`,
    {
      path,
      code: -103,
      hint: `set -v ${version} ${quoteWord(path)} ${quoteWord(`@${file}`)} writes your text`,
    },
  );
}

/** Undefined where another client has created the znode. */
async function createUnlessThere(
  session: Session,
  { path, text }: EditedText,
  signal: AbortSignal,
): Promise<Stat | undefined> {
  try {
    return (await namingParent(session.create2(path, text, { signal }), path)).stat;
  } catch (error) {
    if (error instanceof ConflictError && error.reason === "node-exists") return undefined;
    throw error;
  }
}
