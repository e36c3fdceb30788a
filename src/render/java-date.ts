import { javaZones } from "./java-zones.ts";

const DAYS: readonly string[] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS: readonly string[] = [
  "Jan",
  "Feb",
  "Mar",
  "Apr",
  "May",
  "Jun",
  "Jul",
  "Aug",
  "Sep",
  "Oct",
  "Nov",
  "Dec",
];

/** A time as Java's Date.toString writes it, in the local zone: `Mon Nov 16 04:42:11 UTC 2026`. */
export function javaDate(ms: number): string {
  const date = new Date(ms);
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(":");
  const day = `${DAYS[date.getDay()]} ${MONTHS[date.getMonth()]} ${twoDigits(date.getDate())}`;
  return `${day} ${clock} ${zoneName(date)} ${date.getFullYear()}`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, "0");
}

/**
 * JavaScript knows few zones by their short names; Java knows nearly all, and zkCli's users see
 * Java's.
 */
function zoneName(date: Date): string {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const line = javaZones
    .split("\n")
    .find((candidate) => candidate.split(" ")[2]?.split(",").includes(zone));
  const [standard, summer] = line?.split(" ") ?? [];
  return (isSummerTime(date) ? summer : standard) ?? offsetName(-date.getTimezoneOffset());
}

function isSummerTime(date: Date): boolean {
  const winterAndSummer = [0, 6].map(
    (month) => -new Date(date.getFullYear(), month, 1).getTimezoneOffset(),
  );
  return -date.getTimezoneOffset() > Math.min(...winterAndSummer);
}

/** Java's way with zones that have no name: `GMT+05:30`. */
function offsetName(minutes: number): string {
  const size = Math.abs(minutes);
  return `GMT${minutes < 0 ? "-" : "+"}${twoDigits(Math.floor(size / 60))}:${twoDigits(size % 60)}`;
}
