/**
 * Turns results and errors into text. A renderer writes nothing itself and never looks at the
 * process.
 */

import type { Result, ResultOf } from "../results/result.ts";
import { escapeControls, escapeName } from "../text/escape.ts";
import { createTheme, type Theme } from "./theme.ts";

export type OutputFormat = "text" | "json" | "zkcli";

/** What goes to stdout, and what is said beside it on stderr. */
export interface Rendered {
  readonly out?: string | Uint8Array;
  readonly err?: string;
  /** `out` takes the place of the picture before it, on a terminal. */
  readonly isFrame?: boolean;
  readonly status?: Status;
}

/**
 * What is being waited for, on a terminal: asked for again while it is shown. A text takes its
 * place for good, where it was shown at all; null takes it away.
 */
export type Status = (() => string) | string | null;

/** An error as far as it is shown. */
export interface Failure {
  readonly reason: string;
  readonly message: string;
  readonly exitCode: number;
  readonly code?: number;
  readonly path?: string;
  /** In a transaction: the index of the operation that was refused. */
  readonly opIndex?: number;
  readonly hint?: string;
  /** The command that failed, if it came to one. */
  readonly command?: string;
  readonly stack?: string;
  /** The usual end of what was done: people are told nothing. */
  readonly isExpected?: boolean;
  /** The line of a script that failed. */
  readonly where?: { readonly file: string; readonly line: number };
}

export interface Renderer {
  result(result: Result): Rendered;
  /** Text for stderr, with its line end. */
  error(failure: Failure): string;
  /** Instead of {@link error}, for failures that belong on stdout or have a text of their own. */
  failure?(failure: Failure): Rendered | undefined;
}

/** What a renderer may know of the stream its text is written to. */
export interface View {
  readonly isTTY: boolean;
  readonly columns: number;
  /** Lines of the terminal; 24 when left out. */
  readonly rows?: number;
  readonly theme: Theme;
  readonly isQuiet: boolean;
  /** Every step is told. */
  readonly isVerbose?: boolean;
  /** The terminal shows nothing beyond ASCII. */
  readonly isAscii?: boolean;
  /**
   * The stream that the steps of a lock go to, which is not that of the results; the same when left
   * out.
   */
  readonly steps?: StepsView;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Where the steps of a lock are written to. */
export type StepsView = Pick<View, "isTTY" | "columns" | "theme">;

/**
 * How names are written: on a terminal nothing invisible stays, in a pipe they are exact but for
 * control characters.
 */
export function namesFor({ isTTY }: Pick<View, "isTTY">): (name: string) => string {
  return isTTY ? escapeName : escapeControls;
}

/**
 * One function for every kind of result: a new kind does not compile until every renderer knows it.
 */
export type ResultRenderers = {
  readonly [Kind in Result["kind"]]: (result: ResultOf<Kind>) => Rendered;
};

export function renderWith(renderers: ResultRenderers, result: Result): Rendered {
  // The map's type guarantees that the function found under a kind takes results of that kind.
  const render = renderers[result.kind] as (result: Result) => Rendered;
  return render(result);
}

/** The properties of a stream on which its output depends. */
export interface RenderStream {
  readonly isTTY: boolean;
  readonly columns: number;
  readonly rows?: number | undefined;
  readonly colorLevel: 0 | 1 | 2 | 3;
}

export interface RenderSettings {
  readonly format: OutputFormat;
  readonly color: ColorChoice;
  readonly isQuiet: boolean;
  readonly isVerbose?: boolean;
  readonly isAscii?: boolean;
}

export type ColorChoice = "auto" | "always" | "never";

/**
 * Opens the renderer for one stream, because colours and widths differ by stream. `stepsTo` is the
 * stream for the steps of a lock.
 */
export async function openRenderer(
  output: RenderStream,
  settings: RenderSettings,
  stepsTo = output,
): Promise<Renderer> {
  const { format, color, isQuiet, isVerbose = false, isAscii = false } = settings;
  const [theme, stepsTheme] = await Promise.all([
    openTheme(output, color),
    openTheme(stepsTo, color),
  ]);
  return createRenderer(format, {
    isTTY: output.isTTY,
    // A getter, because a terminal can be resized during a watch.
    get columns() {
      return output.columns;
    },
    get rows() {
      return output.rows ?? 24;
    },
    theme,
    steps: {
      isTTY: stepsTo.isTTY,
      get columns() {
        return stepsTo.columns;
      },
      theme: stepsTheme,
    },
    isQuiet,
    isVerbose,
    isAscii,
    now: Date.now,
  });
}

/** Loads the renderer for a format, and no other. */
export async function createRenderer(format: OutputFormat, view: View): Promise<Renderer> {
  if (format === "json") return (await import("./json.ts")).jsonRenderer();
  if (format === "zkcli") return (await import("./zkcli.ts")).zkcliRenderer(view);
  return (await import("./text.ts")).textRenderer(view);
}

/** Opens the colour theme for one stream. */
export function openTheme({ colorLevel }: RenderStream, choice: ColorChoice): Promise<Theme> {
  if (choice === "never") return createTheme(0);
  return createTheme(choice === "always" && colorLevel === 0 ? 1 : colorLevel);
}

/** Returns true if the locale is UTF-8: the terminal then shows more than ASCII. */
export function isUnicode({ LC_ALL, LC_CTYPE, LANG, TERM }: Locale): boolean {
  return TERM !== "dumb" && /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || "");
}

/** The environment variables that name the locale and the terminal. */
type Locale = Readonly<Record<string, string | undefined>>;
