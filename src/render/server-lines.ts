/** One tick of `top` in a pipe and in JSON: a line for each server. */
import type { ServerReading } from "../recipes/servers/follow-servers.ts";
import type { ServersTickResult } from "../results/servers.ts";
import { escapeControls } from "../text/escape.ts";
import { hexId } from "../text/hex-id.ts";
import { isoTime } from "./stat.ts";

export function plainLine(reading: ServerReading, at: number): string {
  const { server, sample, rates, says } = reading;
  const figures = [
    rates?.received,
    rates?.sent,
    sample?.outstanding,
    latencyOf(reading),
    sample?.connections,
    sample?.znodes,
    sample?.watches,
    rates?.zxids,
  ];
  const texts = figures.map((figure) => (figure === undefined ? "-" : String(rounded(figure))));
  const row = [
    isoTime(at),
    server,
    roleOf(reading),
    ...texts,
    ...(says === undefined ? [] : [says]),
  ];
  return `${row.map(escapeControls).join("\t")}\n`;
}

export function roleOf({ state, sample }: ServerReading): string {
  return state === "serving" ? (sample?.mode ?? "-") : STATES[state];
}

const STATES = {
  "not-serving": "no quorum",
  "not-allowed": "not allowed",
  down: "down",
} as const;

/** Of the requests of this tick, else since the server started. */
export function latencyOf({ sample, rates }: ServerReading): number | undefined {
  return rates?.latencyMs ?? sample?.averageLatencyMs;
}

export function rounded(figure: number): number {
  return Math.round(figure * 10) / 10;
}

export function jsonServersTick({ readings, tick, at }: ServersTickResult): object[] {
  return readings.map(({ server, state, sample, rates, since, says }) => {
    const perSecond = {
      received: rates?.received,
      sent: rates?.sent,
      zxids: rates?.zxids,
    };
    return {
      at: isoTime(at),
      tick,
      server,
      state,
      ...(says !== undefined && { reason: says }),
      ...(since !== undefined && { since: isoTime(since) }),
      ...(sample && {
        role: sample.mode,
        perSecond: roundedAll(perSecond),
        ...roundedAll({
          outstanding: sample.outstanding,
          latencyMs: rates?.latencyMs,
          averageLatencyMs: sample.averageLatencyMs,
          maxLatencyMs: sample.maxLatencyMs,
          connections: sample.connections,
          znodes: sample.znodes,
          watches: sample.watches,
        }),
        ...(sample.zxid !== undefined && { zxid: hexId(sample.zxid) }),
      }),
      ...(rates?.isReset === true && { wasReset: true }),
    };
  });
}

/** JSON leaves out what is undefined. */
function roundedAll(
  figures: Readonly<Record<string, number | undefined>>,
): Readonly<Record<string, number | undefined>> {
  return Object.fromEntries(
    Object.entries(figures).map(([name, figure]) => [
      name,
      figure === undefined ? undefined : rounded(figure),
    ]),
  );
}
