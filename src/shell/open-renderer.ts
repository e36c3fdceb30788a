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
 * The renderer for what is written to one stream: colours and widths differ from stream to stream.
 * `stepsTo` is where the steps of a lock go, beside the results.
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
    // A terminal can be resized while something is watched.
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

/** The palette for one stream. */
export function openTheme(output: Output, choice: ColorChoice): Promise<Theme> {
  return createTheme(colorLevel(output, choice));
}

function colorLevel(output: Output, choice: ColorChoice): ColorLevel {
  if (choice === "never") return 0;
  return choice === "always" && output.colorLevel === 0 ? 1 : output.colorLevel;
}

/** The locale says whether the terminal shows more than ASCII. */
export function isUnicode({ LC_ALL, LC_CTYPE, LANG, TERM }: Environment): boolean {
  return TERM !== "dumb" && /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || "");
}
