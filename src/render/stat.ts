import type { Stat } from "../session/session.ts";
import { hexId } from "../text/hex-id.ts";
import { formatSize } from "../text/size.ts";
import { ago } from "./age.ts";
import type { Theme } from "./theme.ts";

/**
 * The eleven lines of zkCli's stat, in its order, with the times as `formatTime` writes them; ends
 * with a line end.
 */
export function statLines(stat: Stat, formatTime: (ms: number) => string): string {
  return fields(stat, formatTime)
    .map(([label, value]) => `${label} = ${value}\n`)
    .join("");
}

const LABEL_WIDTH = "ephemeralOwner".length;

/** The same lines for a person: aligned, in local time, and beside the values what they come to. */
export function statTable(stat: Stat, now: number, theme: Theme): string {
  const notes: Readonly<Record<string, string | undefined>> = {
    ctime: timeNote(stat.ctime, now),
    mtime: timeNote(stat.mtime, now),
    dataLength: stat.dataLength < 1024 ? undefined : formatSize(stat.dataLength),
  };
  return fields(stat, (ms) => (ms === 0 ? "never set" : localTime(ms)))
    .map(([label, value]) => {
      const note = notes[label];
      return `${theme.faint(`${label.padEnd(LABEL_WIDTH)} =`)} ${value}${note === undefined ? "" : theme.faint(` (${note})`)}\n`;
    })
    .join("");
}

function fields(
  stat: Stat,
  formatTime: (ms: number) => string,
): (readonly [label: string, value: string])[] {
  return [
    ["cZxid", hexId(stat.czxid)],
    ["ctime", formatTime(stat.ctime)],
    ["mZxid", hexId(stat.mzxid)],
    ["mtime", formatTime(stat.mtime)],
    ["pZxid", hexId(stat.pzxid)],
    ["cversion", String(stat.cversion)],
    ["dataVersion", String(stat.version)],
    ["aclVersion", String(stat.aversion)],
    ["ephemeralOwner", hexId(stat.ephemeralOwner)],
    ["dataLength", String(stat.dataLength)],
    ["numChildren", String(stat.numChildren)],
  ];
}

/** ISO 8601 in UTC; the plain number where it is no date that JavaScript can name. */
export function isoTime(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString();
}

/** Local time with its offset: `2026-11-16 04:42:11 +00:00`. */
function localTime(ms: number): string {
  const offset = -new Date(ms).getTimezoneOffset();
  if (Number.isNaN(offset)) return String(ms);
  const local = new Date(ms + offset * 60_000).toISOString().slice(0, 19).replace("T", " ");
  const minutes = Math.abs(offset);
  const zone = `${offset < 0 ? "-" : "+"}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
  return `${local} ${zone}`;
}

/** How long ago; undefined for what is no time. */
function timeNote(ms: number, now: number): string | undefined {
  return ms === 0 || Number.isNaN(new Date(ms).getTime()) ? undefined : ago(now - ms);
}

/** Local time to the second, for tables: `2026-11-16 04:42:11`. */
export function readableDate(ms: number): string {
  const offset = -new Date(ms).getTimezoneOffset();
  if (Number.isNaN(offset)) return String(ms);
  return new Date(ms + offset * 60_000).toISOString().slice(0, 19).replace("T", " ");
}

function twoDigits(number: number): string {
  return String(number).padStart(2, "0");
}
