/** One object a line. The fields are an interface: they are added to, never changed. */

import { isUtf8 } from "node:buffer";
import type { DataResult } from "../result.ts";
import type { Stat } from "../session/session.ts";
import { escapeJson } from "./escape.ts";
import { type Failure, type Rendered, type Renderer, type ResultRenderers, renderWith } from "./renderer.ts";
import { hexId, isoTime } from "./stat.ts";

export function jsonRenderer(): Renderer {
  return { result: (result) => renderWith(renderers, result), error: jsonError };
}

const renderers: ResultRenderers = {
  data: (result) => object({ path: result.path, ...jsonData(result), stat: jsonStat(result.stat) }),
  children: ({ path, children, stat }) => object({ path, children, ...(stat && { stat: jsonStat(stat) }) }),
  paths: ({ paths }) => ({ out: paths.map((path) => line({ path })).join("") }),
  created: ({ path }) => object({ path }),
  changed: ({ path, stat }) => object({ path, stat: jsonStat(stat) }),
  deleted: ({ path }) => object({ path }),
  stat: ({ path, stat }) => object({ path, stat: jsonStat(stat) }),
  existence: ({ path, exists }) => object({ path, exists }),
  help: ({ groups }) => object({ groups }),
  "command-help": ({ kind: _, ...help }) => object(help),
  version: ({ version }) => object({ version }),
};

function object(value: object): Rendered {
  return { out: line(value) };
}

function line(value: object): string {
  return `${escapeJson(JSON.stringify(value))}\n`;
}

/** Text where the bytes are text, so that nothing is lost either way. */
function jsonData({ data, encoding }: DataResult): { data: string | null; encoding: string } {
  if (data === null) return { data, encoding: encoding === "auto" ? "utf8" : encoding };
  if (encoding !== "auto") return { data: data.toString(encoding), encoding };
  const own = isUtf8(data) ? "utf8" : "base64";
  return { data: data.toString(own), encoding: own };
}

function jsonStat(stat: Stat): object {
  return {
    czxid: hexId(stat.czxid),
    mzxid: hexId(stat.mzxid),
    pzxid: hexId(stat.pzxid),
    ctime: isoTime(stat.ctime),
    ctimeMs: stat.ctime,
    mtime: isoTime(stat.mtime),
    mtimeMs: stat.mtime,
    version: stat.version,
    cversion: stat.cversion,
    aversion: stat.aversion,
    ephemeralOwner: hexId(stat.ephemeralOwner),
    dataLength: stat.dataLength,
    numChildren: stat.numChildren,
  };
}

function jsonError({ reason, message, exitCode, where, ...more }: Failure): string {
  return line({ error: { reason, message, exitCode, ...more, ...where } });
}
