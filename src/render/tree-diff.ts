/** Differences between two trees, as diff(1) writes them. */

import { isUtf8 } from "node:buffer";
import type { ComparedZnode } from "../recipes/trees/diff-trees.ts";
import type { DifferenceResult } from "../results/trees.ts";
import { formatAcl } from "../session/acl.ts";
import { diffHunks } from "../text/diff-lines.ts";
import { escapeText, escapeTextControls } from "../text/escape.ts";
import { formatSize } from "../text/size.ts";
import { jsonLines } from "./pretty-json.ts";
import { namesFor, type View } from "./renderer.ts";

export function textDifference(
  { difference, sides, isBrief }: DifferenceResult,
  view: View,
): string {
  const { theme } = view;
  const name = namesFor(view);
  const left = name(joined(sides.left, difference.path));
  const right = name(joined(sides.right, difference.path));
  switch (difference.kind) {
    case "only-left":
      return `${theme.error("-")} only in ${name(sides.left)}: ${name(difference.path || "/")}\n`;
    case "only-right":
      return `${theme.good("+")} only in ${name(sides.right)}: ${name(difference.path || "/")}\n`;
    case "acl":
      if (isBrief) return `ACLs of ${left} and ${right} differ\n`;
      return `ACLs of ${left} and ${right} differ\n${unified(aclLines(difference.left), aclLines(difference.right), view)}`;
    case "data":
      if (isBrief) return `${left} and ${right} differ\n`;
      return data({ left: difference.left, right: difference.right }, { left, right }, view);
  }
}

function joined(place: string, path: string): string {
  if (place.startsWith("file:")) return `${place}:${path || "/"}`;
  return place.endsWith("/") ? `${place.slice(0, -1)}${path || "/"}` : `${place}${path}`;
}

function data(
  { left, right }: { readonly left: ComparedZnode; readonly right: ComparedZnode },
  names: { readonly left: string; readonly right: string },
  view: View,
): string {
  const lines = [textLines(left), textLines(right)] as const;
  if (!lines[0] || !lines[1]) {
    const sizes = [left, right].map((side) => formatSize(side.data?.length ?? 0));
    return `binary data of ${names.left} (${sizes[0]}) and ${names.right} (${sizes[1]}) differs\n`;
  }
  const changes = unified(lines[0], lines[1], view);
  if (changes === "")
    return `${names.left} and ${names.right} differ only in the layout of their JSON or their last line end\n`;
  return `${view.theme.heading(`--- ${names.left}\n+++ ${names.right}`)}\n${changes}`;
}

/** JSON is indented first: what is on one line would be one change. */
function textLines({ data: bytes }: ComparedZnode): string[] | undefined {
  const raw = bytes ?? Buffer.alloc(0);
  if (!isUtf8(raw) || raw.includes(0)) return undefined;
  const text = raw.toString();
  const json = jsonLines(text);
  if (json) return [...json].map((line) => line.text);
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function aclLines({ acl = [] }: ComparedZnode): string[] {
  return acl.map(formatAcl).sort();
}

function unified(left: readonly string[], right: readonly string[], view: View): string {
  const { theme, isTTY } = view;
  const shown = isTTY ? escapeText : escapeTextControls;
  return diffHunks(left, right)
    .map((hunk) => {
      const removed = hunk.lines.filter(({ sign }) => sign !== "+").length;
      const added = hunk.lines.filter(({ sign }) => sign !== "-").length;
      const head = theme.faint(`@@ -${hunk.left},${removed} +${hunk.right},${added} @@`);
      const lines = hunk.lines.map(({ sign, text }) => {
        const line = `${sign}${shown(text)}`;
        if (sign === " ") return `${line}\n`;
        return `${sign === "-" ? theme.error(line) : theme.good(line)}\n`;
      });
      return `${head}\n${lines.join("")}`;
    })
    .join("");
}
