/** A small plot on one line. */

const LEVELS: readonly string[] = [..."▁▂▃▄▅▆▇█"];
const ASCII_LEVELS: readonly string[] = [..."_.:-=+*#"];

/**
 * One character for each of the last `width` values, scaled to `most`; a blank where a value is not
 * known.
 */
export function sparkline(
  values: readonly (number | undefined)[],
  { most, width, isAscii = false }: { most: number; width: number; isAscii?: boolean | undefined },
): string {
  const levels = isAscii ? ASCII_LEVELS : LEVELS;
  const shown = values.slice(-width).map((value) => {
    if (value === undefined) return " ";
    // Only nothing has the lowest level: one request must differ from none.
    const level = value <= 0 || most <= 0 ? 0 : Math.ceil((value / most) * (levels.length - 1));
    return levels[Math.min(level, levels.length - 1)] ?? " ";
  });
  return shown.join("").padStart(width);
}
