import type { ResultOf } from "../results/result.ts";
import { escapeName } from "../text/escape.ts";
import { displayWidth } from "./display-width.ts";
import type { View } from "./renderer.ts";

/** Aligned on a terminal, with tabs between in a pipe. */
export function textSettings(
  { rows, file, showsOrigin }: ResultOf<"settings">,
  { isTTY, theme }: View,
): string {
  const cells = rows.map(({ name, value, origin }) =>
    [name, value, ...(showsOrigin ? [origin] : [])].map(escapeName),
  );
  if (!isTTY) return cells.map((row) => `${row.join("\t")}\n`).join("");
  const widths = [0, 1].map((column) =>
    cells.reduce((most, row) => Math.max(most, displayWidth(row[column] ?? "")), 0),
  );
  const pad = (text: string, column: number) =>
    text + " ".repeat(Math.max(0, (widths[column] ?? 0) - displayWidth(text)));
  const lines = cells.map(([name = "", value = "", origin]) =>
    origin === undefined
      ? `${theme.key(pad(name, 0))}  ${value}`
      : `${theme.key(pad(name, 0))}  ${pad(value, 1)}  ${theme.faint(origin)}`,
  );
  const where = file === undefined ? "no settings file" : escapeName(file);
  return `${[theme.faint(`# ${where}`), ...lines].join("\n")}\n`;
}
