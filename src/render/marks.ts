import type { View } from "./renderer.ts";

/** What stands for each mark, in one column too, where the terminal shows ASCII only. */
const ASCII: Readonly<Record<string, string>> = {
  "·": ".",
  "━": "=",
  "▶": ">",
  "×": "x",
  "…": "~",
};

export function inAscii(text: string, { isAscii = false }: Pick<View, "isAscii">): string {
  return isAscii ? text.replace(/[·━▶×…]/g, (mark) => ASCII[mark] ?? mark) : text;
}
