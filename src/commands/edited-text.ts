/** What `edit` knows of texts: their file names, JSON, and the line end that editors add. */
import { isUtf8 } from "node:buffer";
import { baseName } from "../session/path.ts";

const LINE_END = 0x0a;
const MAX_NAME = 60;

/** Whether an editor can show the data and give it back unchanged. */
export function isText(data: Buffer): boolean {
  return isUtf8(data) && !data.includes(0);
}

/** The name of the file for an editor, which chooses its colours by the suffix. */
export function fileNameFor(path: string, data: Buffer): string {
  const name = baseName(path)
    .replace(/[^\w.-]/g, "_")
    .replace(/^[-.]/, "_")
    .slice(-MAX_NAME);
  if (/.\.[a-z]{1,5}$/i.test(name)) return name;
  return `${name || "root"}${jsonProblem(data) === undefined ? ".json" : ".txt"}`;
}

/** Why the data is no JSON object or array; undefined: it is. */
export function jsonProblem(data: Buffer): string | undefined {
  try {
    const value: unknown = JSON.parse(data.toString());
    return typeof value === "object" && value !== null ? undefined : "not an object or array";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * Editors such as vi end every file with a line end. One that the data did not have is dropped, so
 * that `2181` does not become `2182` and a line end.
 */
export function withoutAddedLineEnd(before: Buffer, after: Buffer): Buffer {
  if (before.at(-1) === LINE_END || after.at(-1) !== LINE_END) return after;
  return after.subarray(0, -1);
}
