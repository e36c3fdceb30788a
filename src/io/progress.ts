/**
 * Shows that something is going on, through ora: only when it takes a while, and only on a
 * terminal.
 */
import type { Ora } from "ora";
import type { Output } from "./io.ts";

const SLOW_MS = 150;

export class Progress {
  readonly #output: () => Output;
  readonly #isQuiet: boolean;
  #timer: NodeJS.Timeout | undefined;
  #spinner: Ora | undefined;
  #text: () => string = () => "";

  /** `output` is where it spins, looked at when it comes to that: stderr. */
  constructor(output: () => Output, { isQuiet = false } = {}) {
    this.#output = output;
    this.#isQuiet = isQuiet;
  }

  /**
   * Begins to spin soon, unless {@link stop} comes first. What spins already goes on with the new
   * text.
   */
  start(text: () => string): void {
    this.#text = text;
    if (this.#isQuiet || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => void this.#spin().catch(() => {}), SLOW_MS);
  }

  /** How far the work has come; begins to spin if it does not yet. */
  report(done: number, what: string): void {
    const text = `${done.toLocaleString("en-US")} ${what}`;
    this.start(() => text);
  }

  /**
   * Takes the spinner off the screen, for good or until the next {@link start}; a last word stays
   * in its place.
   */
  stop(lastWord: string | null = null): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (lastWord === null) this.#spinner?.stop();
    else this.#spinner?.succeed(lastWord);
    this.#spinner = undefined;
  }

  async #spin(): Promise<void> {
    const output = this.#output();
    if (!output.isTTY || output.colorLevel === 0) return;
    const own = this.#timer;
    const { default: ora } = await import("ora");
    if (this.#timer !== own) return;
    const spinner = ora({
      text: this.#text(),
      stream: forSpinner(output),
      // readline owns stdin.
      discardStdin: false,
      isEnabled: true,
    });
    this.#spinner = spinner.start();
    const refresh = () => {
      if (this.#spinner !== spinner) return;
      spinner.text = this.#text();
      this.#timer = setTimeout(refresh, 200);
    };
    refresh();
  }
}

/** Those by which ora moves the cursor and writes. */
const WRITES: ReadonlySet<unknown> = new Set(["write", "clearLine", "cursorTo", "moveCursor"]);

/**
 * ora divides by the columns to count lines; with 0 columns it would never end. A spinner's frame is
 * worth showing only now: while the reader does not read, frames are dropped instead of queued.
 *
 * While it spins, ora replaces `write` of its stream and of process.stderr, and puts both back in
 * the end. The spinner's stream must keep its own replacement: on process.stderr it would be taken
 * for the original, and each spinner would add a layer that is never removed.
 */
function forSpinner(output: Output): NodeJS.WriteStream {
  const stream = output.stream as NodeJS.WriteStream;
  const replaced = new Map<unknown, unknown>();
  const writes = new Map<unknown, unknown>();
  for (const key of WRITES) {
    const method: unknown = Reflect.get(stream, key as string);
    if (typeof method !== "function") continue;
    const bound = method.bind(stream);
    writes.set(key, (...words: unknown[]) => output.isStuck || bound(...words));
  }
  return new Proxy(stream, {
    get(target, key) {
      if (key === "columns") return Math.max(4, Number(target.columns) || 80);
      if (replaced.has(key)) return replaced.get(key);
      if (writes.has(key)) return writes.get(key);
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
    set: (_target, key, value) => replaced.set(key, value) === replaced,
  });
}
