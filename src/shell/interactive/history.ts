/** The history of lines, in a file to which several shells may append at once. */
import { constants } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { UsageError } from "../../errors.ts";
import { openOwn } from "../../io/own-file.ts";
import { stateDirectory } from "../../io/state-directory.ts";
import { replaceFile } from "../../io/whole-file.ts";
import type { Environment } from "../../processes/child-requests.ts";
import { isRedacted, redact } from "./secrets.ts";

export const MAX_ENTRIES = 5_000;

/**
 * Returns the path of the history file: in XDG's state directory. Undefined without a home
 * directory.
 */
export function historyFile(env: Environment): string | undefined {
  const directory = stateDirectory(env);
  return directory && join(directory, "history");
}

export class History {
  /** Oldest first, without secrets. */
  readonly entries: string[];
  readonly #file: string | undefined;
  readonly #max: number;
  #written: Promise<void> = Promise.resolve();
  #failure: string | undefined;

  constructor(entries: readonly string[] = [], file?: string, max = MAX_ENTRIES) {
    this.entries = [...entries];
    this.#file = file;
    this.#max = max;
  }

  /**
   * The history in `file`, which need not exist. A file that cannot be read or belongs to another
   * user is left alone, and
   * `failure` says why. It may be a link of our own to a file of our own. Of a file with more than
   * `max` lines the last are kept; with 0 the file is not used.
   */
  static async load(file: string | undefined, max = MAX_ENTRIES): Promise<History> {
    if (file === undefined || max === 0) return new History();
    try {
      const { text, path } = await readPrivate(file);
      const lines = text.split("\n").filter((line) => line !== "");
      // Two shells may have stored the same line one after the other.
      const kept = lines.filter((line, index) => line !== lines[index - 1]).slice(-max);
      // Not at every start: a rewrite can lose a line that another shell appends at that moment.
      if (lines.length > max * 1.2)
        await replaceFile(path, kept.map((line) => `${line}\n`).join(""), 0o600);
      return new History(kept.map(decode), file, max);
    } catch (error) {
      if (isMissing(error)) return new History([], file, max);
      const history = new History();
      history.#failure = reasonOf(error);
      return history;
    }
  }

  /** Why the history is not stored; undefined if it is. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /**
   * Adds a line, except blank lines, repetitions and lines that begin with a space. Returns the
   * stored line.
   */
  add(line: string): string | undefined {
    if (line.trim() === "" || line.startsWith(" ")) return undefined;
    const entry = redact(line.trimEnd());
    if (entry === this.entries.at(-1)) return undefined;
    this.entries.push(entry);
    if (this.entries.length > this.#max) this.entries.shift();
    if (this.#file !== undefined) this.#append(this.#file, entry);
    return entry;
  }

  /** Resolves when everything is in the file. */
  flushed(): Promise<void> {
    return this.#written;
  }

  #append(file: string, entry: string): void {
    this.#written = this.#written.then(async () => {
      try {
        await mkdir(dirname(file), { recursive: true, mode: 0o700 });
        // One write at the end of the file: lines of two shells never mix.
        await append(file, `${encode(entry)}\n`);
      } catch (error) {
        this.#failure ??= reasonOf(error);
      }
    });
  }
}

/** Removes the permissions of other users from the file. */
async function readPrivate(
  file: string,
): Promise<{ readonly text: string; readonly path: string }> {
  const { handle, path } = await openOwn(file, constants.O_RDONLY);
  try {
    if (((await handle.stat()).mode & 0o077) !== 0) await handle.chmod(0o600);
    return { text: await handle.readFile("utf8"), path };
  } finally {
    await handle.close();
  }
}

async function append(file: string, text: string): Promise<void> {
  const { handle } = await openOwn(
    file,
    constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT,
    0o600,
  );
  try {
    await handle.appendFile(text);
  } finally {
    await handle.close();
  }
}

/** Encodes an entry as one line: an entry with line ends or a leading quote becomes JSON. */
function encode(entry: string): string {
  return /[\n\r]|^"/.test(entry) ? JSON.stringify(entry) : entry;
}

function decode(line: string): string {
  if (!line.startsWith('"')) return line;
  try {
    return String(JSON.parse(line));
  } catch {
    return line;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * `!!` at the start of a line is the last line, `!N` line N. Throws UsageError when there is none,
 * or it cannot be run again.
 */
export function expandHistory(text: string, lines: readonly string[]): string {
  const found = /^!(?:!|(\d+)(?=\s|$))/.exec(text);
  if (!found) return text;
  const line = found[1] === undefined ? lines.at(-1) : lines[Number(found[1])];
  if (line === undefined)
    throw new UsageError("there is no such line in the history", {
      hint: "history shows the numbers",
    });
  if (isRedacted(line))
    throw new UsageError("the history does not keep the password of that line: type it again");
  return line + text.slice(found[0].length);
}
