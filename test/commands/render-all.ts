import { createRenderer, type OutputFormat } from "../../src/render/renderer.ts";
import { plainTheme } from "../../src/render/theme.ts";
import type { Result } from "../../src/results/result.ts";

/** What a result says on stdout, in every form. */
export async function renderAll(
  result: Result,
): Promise<Record<"terminal" | "pipe" | "json" | "zkcli", string>> {
  const render = async (format: OutputFormat, isTTY: boolean) => {
    const view = { isTTY, columns: 80, theme: plainTheme, isQuiet: false, now: Date.now };
    return String((await createRenderer(format, view)).result(result).out ?? "");
  };
  return {
    terminal: await render("text", true),
    pipe: await render("text", false),
    json: await render("json", false),
    zkcli: await render("zkcli", false),
  };
}
