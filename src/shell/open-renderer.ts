import type { ColorChoice } from "../config/settings.ts";
import type { ColorLevel, Output } from "../io/io.ts";
import type { Environment } from "../processes/child-requests.ts";
import { createRenderer, type OutputFormat, type Renderer } from "../render/renderer.ts";
import { createTheme, type Theme } from "../render/theme.ts";

export interface RenderSettings {
  readonly format: OutputFormat;
  readonly color: ColorChoice;
  readonly isQuiet: boolean;
  readonly isVerbose?: boolean;
  readonly isAscii?: boolean;
}

/**
 * Opens the renderer for one stream, because colours and widths differ by stream. `stepsTo` is the
 * stream for the steps of a lock.
 */
export async function openRenderer(
  output: Output,
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

/** Opens the colour theme for one stream. */
export function openTheme(output: Output, choice: ColorChoice): Promise<Theme> {
  return createTheme(colorLevel(output, choice));
}

function colorLevel(output: Output, choice: ColorChoice): ColorLevel {
  if (choice === "never") return 0;
  return choice === "always" && output.colorLevel === 0 ? 1 : output.colorLevel;
}

/** Returns true if the locale is UTF-8: the terminal then shows more than ASCII. */
export function isUnicode({ LC_ALL, LC_CTYPE, LANG, TERM }: Environment): boolean {
  return TERM !== "dumb" && /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || "");
}
