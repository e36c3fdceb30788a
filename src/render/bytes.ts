import type { TextLine } from "./first-rows.ts";

const ROW = 16;

/** Bytes as `hexdump -C` shows them, one line per sixteen. */
export function* hexLines(bytes: Buffer): Generator<TextLine> {
  for (const { offset, row, end } of rows(bytes)) {
    const halves = [row.subarray(0, ROW / 2), row.subarray(ROW / 2)].map((half) =>
      hexPairs(half).padEnd(23),
    );
    yield { text: `${offset}  ${halves.join("  ")}  |${printable(row)}|`, end };
  }
}

/**
 * Bytes in the frame that `get -x` of zkCli draws, without a last line end; nothing for no bytes.
 */
export function framedHexDump(bytes: Buffer): string {
  if (bytes.length === 0) return "";
  const line = `+--------+${"-".repeat(49)}+----------------+`;
  const digits = Array.from({ length: ROW }, (_, i) => `  ${i.toString(16)}`).join("");
  const body = Array.from(
    rows(bytes),
    ({ offset, row }) => `|${offset}| ${hexPairs(row).padEnd(48)}|${printable(row).padEnd(ROW)}|`,
  );
  return [`         +${"-".repeat(49)}+`, `         |${digits} |`, line, ...body, line].join("\n");
}

function* rows(bytes: Buffer): Generator<{ offset: string; row: Buffer; end: number }> {
  for (let start = 0; start < bytes.length; start += ROW) {
    const end = Math.min(start + ROW, bytes.length);
    yield { offset: start.toString(16).padStart(8, "0"), row: bytes.subarray(start, end), end };
  }
}

function hexPairs(row: Buffer): string {
  return row.toString("hex").replace(/(..)(?=.)/g, "$1 ");
}

function printable(row: Buffer): string {
  return row.toString("latin1").replace(/[^ -~]/g, ".");
}
