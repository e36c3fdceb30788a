/**
 * Questions to a person, through inquirer. Only where both ends are a terminal: elsewhere it would
 * hang, or eat a script.
 */
import type { Readable, Writable } from "node:stream";
import { InterruptedError } from "../errors.ts";
import { escapeName } from "../text/escape.ts";
import type { Io } from "./io.ts";

/** Undefined where no person can answer: an input or output is not a terminal. */
export function prompterFor(io: Io): Prompter | undefined {
  return io.stdin.isTTY && io.stdout.isTTY && io.stderr.isTTY ? new Prompter(io) : undefined;
}

interface TextToAsk {
  readonly question: string;
  readonly preset?: string;
  check?(answer: string): string | undefined;
}

interface Question {
  readonly type: "confirm" | "password" | "input" | "select";
  readonly message: string;
  readonly [setting: string]: unknown;
}

class Prompter {
  readonly #io: Io;

  constructor(io: Io) {
    this.#io = io;
  }

  /** Only a clear yes is a yes. */
  async confirm(question: string, signal: AbortSignal): Promise<boolean> {
    return (
      (await this.#ask({ type: "confirm", message: question, default: false }, signal)) === true
    );
  }

  /** Shows a star for each character that is typed. */
  async secret(question: string, signal: AbortSignal): Promise<string> {
    return String(
      await this.#ask(
        { type: "password", message: question, mask: "*", toggleMask: false },
        signal,
      ),
    );
  }

  /** A line of text. `check` returns what is wrong with it. */
  async text({ question, preset, check }: TextToAsk, signal: AbortSignal): Promise<string> {
    const answer = await this.#ask(
      {
        type: "input",
        message: question,
        ...(preset !== undefined && { default: preset }),
        validate: (text: string) => check?.(text.trim()) ?? true,
      },
      signal,
    );
    return String(answer).trim();
  }

  /** One of several; returns its index. */
  async choose(question: string, names: readonly string[], signal: AbortSignal): Promise<number> {
    const choices = names.map((name, value) => ({ name: escapeName(name), value }));
    return Number(await this.#ask({ type: "select", message: question, choices }, signal));
  }

  /**
   * The one place where a question is shown, so that the names and records in it are escaped here.
   */
  async #ask(asked: Question, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const question = { ...asked, name: "answer", message: escapeName(asked.message) };
    const { default: inquirer } = await import("inquirer");
    const { stream: input } = this.#io.stdin;
    const streams = { input: withoutErrors(input), output: sized(this.#io.stderr.stream) };
    // At Ctrl-D, and when the terminal is gone, inquirer's input is closed and its promise never
    // settles. Both interrupt the question, as Ctrl-C does.
    const leaving = new AbortController();
    const leave = () => leaving.abort();
    const either = AbortSignal.any([signal, leaving.signal]);
    const onKey = (_: string, key?: { ctrl?: boolean; name?: string }) => {
      if (key?.ctrl && key.name === "d") leave();
    };
    input.on("keypress", onKey).on("end", leave);
    // Its types know the process's own streams only, and only questions that are written out in
    // place.
    const ask = inquirer.createPromptModule({
      ...streams,
      signal: either,
    } as never) as unknown as (questions: readonly object[]) => Promise<{ answer: unknown }>;
    const over = new Promise<never>((_, reject) => {
      // A turn later: it may have a terminal to put right, and settles by itself.
      either.addEventListener("abort", () => setImmediate(reject, new InterruptedError()), {
        once: true,
      });
    });
    try {
      return (await Promise.race([ask([question]), over])).answer;
    } catch (error) {
      // Ctrl-C, Ctrl-D, or our own signal.
      if (
        error instanceof Error &&
        /^(ExitPrompt|AbortPrompt|CancelPrompt)Error$/.test(error.name)
      ) {
        throw new InterruptedError();
      }
      throw error;
    } finally {
      input.off("keypress", onKey).off("end", leave);
    }
  }
}

/**
 * Keeps inquirer's readline from listening to errors of the input: it would rethrow them, and they
 * would end the process when the terminal is gone. The code that opened the stream handles them.
 */
function withoutErrors(stream: Readable): Readable {
  return new Proxy(stream, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      if (key !== "on") return value.bind(target);
      return (name: string, listener: () => void) =>
        name === "error" ? target : target.on(name, listener);
    },
  });
}

/** A terminal that claims to have no columns is taken to have 80. */
function sized<T extends Readable | Writable>(stream: T): T {
  return new Proxy(stream, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (key === "columns") return value || 80;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
