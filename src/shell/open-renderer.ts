import type { ColorChoice } from "../config.ts";
import type { ColorLevel, Output } from "../io/io.ts";
import { type Colors, createColors } from "../render/colors.ts";
import { createRenderer, type OutputFormat, type Renderer } from "../render/renderer.ts";

export interface RenderSettings {
  readonly format: OutputFormat;
  readonly color: ColorChoice;
  readonly isQuiet: boolean;
  readonly isVerbose?: boolean;
}

/** The renderer for what is written to one stream: colours and widths differ from stream to stream. */
export async function openRenderer(output: Output, settings: RenderSettings): Promise<Renderer> {
  const { format, color, isQuiet, isVerbose = false } = settings;
  const colors = await openColors(output, color);
  return createRenderer(format, {
    isTTY: output.isTTY,
    // A terminal can be resized while something is watched.
    get columns() {
      return output.columns;
    },
    get rows() {
      return output.rows ?? 24;
    },
    colors,
    isQuiet,
    isVerbose,
    now: Date.now,
  });
}

/** The palette for one stream. */
export function openColors(output: Output, choice: ColorChoice): Promise<Colors> {
  return createColors(colorLevel(output, choice));
}

function colorLevel(output: Output, choice: ColorChoice): ColorLevel {
  if (choice === "never") return 0;
  return choice === "always" && output.colorLevel === 0 ? 1 : output.colorLevel;
}
