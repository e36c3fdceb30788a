/** Results of `doctor`. */
import type { Finding } from "../recipes/doctor/finding.ts";
import type { ExaminedResult, ExaminedServer, FindingResult } from "../results/doctor.ts";
import { formatAcl } from "../session/acl.ts";
import { formatAddress } from "../session/connect-string.ts";
import type { Acl } from "../session/session.ts";
import { hexId } from "../text/hex-id.ts";
import { counted, placeOf, sentenceOf } from "./doctor-findings.ts";
import { type Fix, fixOf } from "./doctor-fixes.ts";
import { namesFor, type Rendered, type View } from "./renderer.ts";
import { tableLines } from "./table.ts";
import type { Paint, Theme } from "./theme.ts";

export function textFinding(
  { finding, from, isRepeated = false }: FindingResult,
  view: View,
): Rendered {
  const name = namesFor(view);
  const place = name(placeOf(finding));
  const says = name(sentenceOf(finding));
  const fix = fixOf(finding, from);
  const { severity, check } = finding;
  if (!view.isTTY)
    return { out: `${[severity, check, place, says, name(fixText(fix))].join("\t")}\n` };
  const { theme } = view;
  const line = fix.command ?? fix.config;
  const typed = line === undefined ? [] : [theme.command(name(line))];
  const words = isRepeated && line !== undefined ? [] : [name(fixWords(fix))];
  return {
    out:
      `${paintOf(theme)[severity](severity)} ${theme.path(place)}: ${says}\n` +
      `  fix: ${[...words, ...typed].join(": ")}\n`,
  };
}

function paintOf(theme: Theme): Readonly<Record<Finding["severity"], Paint>> {
  return { error: theme.error, warning: theme.warning, note: theme.faint };
}

function fixWords({ says, config }: Fix): string {
  return config === undefined ? says : `${says} (zoo.cfg)`;
}

function fixText(fix: Fix): string {
  const line = fix.command ?? fix.config;
  return line === undefined ? fixWords(fix) : `${fixWords(fix)}: ${line}`;
}

export function jsonFinding({ finding, from }: FindingResult): object {
  const { severity, check, ...evidence } = finding;
  return {
    severity,
    check,
    where: placeOf(finding),
    message: sentenceOf(finding),
    evidence: Object.fromEntries(
      Object.entries(evidence).map(([key, value]) => [key, plain(key, value)]),
    ),
    fix: fixOf(finding, from),
  };
}

function plain(key: string, value: unknown): unknown {
  if (key === "acl") return (value as readonly Acl[]).map(formatAcl);
  if (key === "members") return (value as Parameters<typeof formatAddress>[0][]).map(formatAddress);
  if (typeof value === "bigint") return /zxid$/i.test(key) ? hexId(value) : Number(value);
  return value;
}

export function textExamined(result: ExaminedResult, view: View): Rendered {
  if (view.isQuiet) return {};
  const { isTTY, isVerbose = false } = view;
  const lines =
    isTTY || isVerbose
      ? [...(isVerbose ? serverTable(result, view) : []), summary(result, view)]
      : [];
  if (!result.isWholeTree) {
    const read = counted(result.znodes ?? 0, "znode");
    lines.push(`note: only the first ${read} of the tree were read; --max-znodes N reads more`);
  }
  return lines.length === 0 ? {} : { err: lines.map((text) => `${text}\n`).join("") };
}

function summary({ servers, znodes, clocks, findings }: ExaminedResult, { theme }: View): string {
  const answering = servers.filter(({ isReached }) => isReached).length;
  const examined = [
    answering === servers.length
      ? counted(servers.length, "server")
      : `${answering} of ${counted(servers.length, "server")}`,
    znodes === undefined ? "no tree" : counted(znodes, "znode"),
    clocks === 0
      ? "no clocks (the servers do not allow cons; --test-write compares the leader's)"
      : counted(clocks, "clock"),
  ].join(", ");
  const verdict =
    findings === 0 ? theme.good("All is well") : theme.error(counted(findings, "finding"));
  return `${verdict}; examined: ${examined}`;
}

/** What each column says of a server. */
const COLUMNS: Readonly<Record<string, (one: ExaminedServer) => string>> = {
  SERVER: ({ server }) => server,
  ROLE: ({ mode }) => mode ?? "unknown",
  RELEASE: ({ release }) => release ?? "unknown",
  TLS: ({ isTls }) => (isTls ? "yes" : "no"),
  ANSWERS: ({ roundTripMs: ms }) => (ms === undefined ? "no" : `in ${Math.round(ms)} ms`),
  "AVG/MAX MS": ({ latency }) =>
    latency === undefined ? "" : `${Math.round(latency.avg)}/${latency.max}`,
  OUTSTANDING: ({ outstanding }) => String(outstanding ?? ""),
  LAG: ({ lag, mode }) => (mode === undefined ? "" : String(lag)),
  ZXID: ({ zxid }) => (zxid === undefined ? "" : hexId(zxid)),
};

function serverTable({ servers }: ExaminedResult, view: View): string[] {
  const name = namesFor(view);
  const columns = Object.entries(COLUMNS).map(([title, cell]) => ({
    title,
    cells: servers.map((one) => name(cell(one))),
  }));
  const { head, lines } = tableLines(columns, view.isTTY ? view.columns : Infinity);
  return [view.theme.heading(head), ...lines];
}

export function jsonExamined({ kind: _, servers, ...counts }: ExaminedResult): object {
  return {
    ...counts,
    servers: servers.map(({ zxid, lag, ...one }) => ({
      ...one,
      ...(zxid !== undefined && { zxid: hexId(zxid) }),
      lag: Number(lag),
    })),
  };
}
