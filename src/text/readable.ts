import { isUtf8 } from "node:buffer";

/** UTF-8 without the control characters that no text has: what a person can read. */
export function isReadable(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.some((byte) => byte < 0x20 && !READABLE_CONTROLS.has(byte));
}

// Tab, line ends, form feed, backspace, and the escapes of coloured text.
const READABLE_CONTROLS: ReadonlySet<number> = new Set([0x08, 0x09, 0x0a, 0x0c, 0x0d, 0x1b]);

/** Longer text is not parsed, only to find out whether it is JSON. */
const MAX_JSON_LENGTH = 4 * 1024 * 1024;

/** True for an object or an array in JSON. */
export function isJsonContainer(text: string): boolean {
  return text.length <= MAX_JSON_LENGTH && /^\s*[[{]/.test(text) && whyNotJson(text) === undefined;
}

/** The parser's message about a text that is not JSON. */
export function whyNotJson(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
