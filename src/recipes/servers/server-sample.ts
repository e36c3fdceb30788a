/** The figures of one server at one moment, and the rates between two moments. */
import { type Metrics, metric } from "./mntr.ts";
import type { ServerStatus } from "./srvr.ts";

/** What a server does not tell is left out. */
export interface ServerSample {
  /** In milliseconds, by a clock that never goes back. */
  readonly at: number;
  readonly mode?: string;
  readonly zxid?: bigint;
  readonly received?: number;
  readonly sent?: number;
  readonly outstanding?: number;
  readonly connections?: number;
  readonly znodes?: number;
  readonly watches?: number;
  /** In milliseconds, since the server started or its statistics were reset. */
  readonly averageLatencyMs?: number;
  readonly maxLatencyMs?: number;
  readonly uptimeMs?: number;
  /** The latencies of all requests together, and their number: from 3.6 on. */
  readonly requestMs?: number;
  readonly requests?: number;
}

/** Per second. A rate is left out where a figure is missing, or where a counter was reset. */
export interface ServerRates {
  readonly received?: number;
  readonly sent?: number;
  /** Transactions of the ensemble that this server has applied. */
  readonly zxids?: number;
  /** The mean of the requests between the samples, in milliseconds. */
  readonly latencyMs?: number;
  /** The server was restarted, or its statistics were reset, between the samples. */
  readonly isReset: boolean;
}

/** `srvr` is first asked; `mntr` tells watches, and more latencies. Undefined without both. */
export function sampleOf(
  status: ServerStatus | undefined,
  metrics: Metrics | undefined,
  at: number,
): ServerSample | undefined {
  if (!status && !metrics) return undefined;
  const number = (name: string) => metric(metrics, `zk_${name}`);
  const sample = {
    mode: status?.mode ?? /^[a-z-]{1,20}$/.exec(metrics?.get("zk_server_state") ?? "")?.[0],
    zxid: status?.zxid,
    received: status?.received ?? number("packets_received"),
    sent: status?.sent ?? number("packets_sent"),
    outstanding: status?.outstanding ?? number("outstanding_requests"),
    connections: status?.connections ?? number("num_alive_connections"),
    znodes: status?.znodes ?? number("znode_count"),
    watches: number("watch_count"),
    averageLatencyMs: status?.latency?.avg ?? number("avg_latency"),
    maxLatencyMs: status?.latency?.max ?? number("max_latency"),
    uptimeMs: number("uptime"),
    requestMs: sum(number("sum_readlatency"), number("sum_updatelatency")),
    requests: sum(number("cnt_readlatency"), number("cnt_updatelatency")),
  };
  return { at, ...withoutUndefined(sample) };
}

export function ratesBetween(before: ServerSample, now: ServerSample): ServerRates {
  const seconds = (now.at - before.at) / 1_000;
  const isReset =
    isLess(now.received, before.received) ||
    isLess(now.sent, before.sent) ||
    isLess(now.uptimeMs, before.uptimeMs);
  if (seconds <= 0 || isReset) return { isReset };
  const perSecond = (a: number | undefined, b: number | undefined) =>
    a === undefined || b === undefined ? undefined : (b - a) / seconds;
  const rates = {
    received: perSecond(before.received, now.received),
    sent: perSecond(before.sent, now.sent),
    zxids: zxidsPerSecond(before.zxid, now.zxid, seconds),
    latencyMs: meanLatency(before, now),
  };
  return { ...withoutUndefined(rates), isReset };
}

/** Each leader begins a new epoch, in the upper half of the zxid, and counts from 0 again. */
const EPOCH_BITS = 32n;

function zxidsPerSecond(
  before: bigint | undefined,
  now: bigint | undefined,
  seconds: number,
): number | undefined {
  if (before === undefined || now === undefined || now < before) return undefined;
  if (now >> EPOCH_BITS !== before >> EPOCH_BITS) return undefined;
  return Number(now - before) / seconds;
}

function meanLatency(before: ServerSample, now: ServerSample): number | undefined {
  const requests = (now.requests ?? 0) - (before.requests ?? 0);
  const ms = (now.requestMs ?? 0) - (before.requestMs ?? 0);
  return before.requests === undefined || requests <= 0 || ms < 0 ? undefined : ms / requests;
}

function isLess(a: number | undefined, b: number | undefined): boolean {
  return a !== undefined && b !== undefined && a < b;
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a + b;
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function withoutUndefined<T extends object>(fields: T): Defined<T> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Defined<T>;
}
