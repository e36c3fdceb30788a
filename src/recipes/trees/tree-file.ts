/**
 * The file that `export` writes and `import` reads: JSON lines, UTF-8. The first is a header, each
 * other one a znode, parents before their children. Every field is checked where it is read: a
 * file may come from anywhere.
 */
import { isUtf8 } from "node:buffer";
import { UsageError } from "../../errors.ts";
import { formatAcl, parseAcl } from "../../session/acl.ts";
import { kindOf, type NodeKind, nextSequence, ttlOf } from "../../session/node-kind.ts";
import { validatePath } from "../../session/path.ts";
import type { Acl, Stat } from "../../session/session.ts";

export interface TreeFileHeader {
  /** The version of the format. */
  readonly zksh: 1;
  /** The servers and the chroot that the tree was read from. */
  readonly from: string;
  /** The root of the tree; all other paths are below it. */
  readonly path: string;
  /** When the export began: ISO-8601, UTC. */
  readonly at: string;
  /** The last transaction that the session had seen when the export began, in hex. */
  readonly zxid: string;
}

export interface TreeFileZnode {
  readonly path: string;
  readonly data: Buffer | null;
  /** Left out where the export was made without ACLs. */
  readonly acl?: readonly Acl[];
  readonly kind: NodeKind;
  readonly ttlMs?: number;
  /** The number of the next sequential child, where it is not the number of children. */
  readonly nextSequence?: number;
}

/** ZooKeeper's own limit is 1 MB by default; base64 and JSON's escapes make it longer. */
const MAX_LINE = 64 * 1024 * 1024;
const KINDS: readonly string[] = ["persistent", "ephemeral", "container", "ttl"];

export function znodeOf(
  path: string,
  { data, stat, acl }: { data: Buffer | null; stat: Stat; acl?: readonly Acl[] | undefined },
): TreeFileZnode {
  const ttlMs = ttlOf(stat);
  const next = nextSequence(stat);
  return {
    path,
    data,
    ...(acl && { acl }),
    kind: kindOf(stat),
    ...(ttlMs !== undefined && { ttlMs }),
    // ClickHouse Keeper counts differently: what is no whole number is no counter.
    ...(next !== stat.numChildren && Number.isInteger(next) && { nextSequence: next }),
  };
}

export function headerLine(header: TreeFileHeader): string {
  return `${JSON.stringify(header)}\n`;
}

export function znodeLine({ path, data, acl, kind, ttlMs, nextSequence }: TreeFileZnode): string {
  const text = data === null ? null : utf8(data);
  const fields = {
    path,
    data: data !== null && text === undefined ? data.toString("base64") : text,
    encoding: data !== null && text === undefined ? "base64" : "utf8",
    ...(acl && { acl: acl.map(formatAcl) }),
    kind,
    ...(ttlMs !== undefined && { ttlMs }),
    ...(nextSequence !== undefined && { nextSequence }),
  };
  return `${JSON.stringify(fields)}\n`;
}

/** The text that stands for exactly these bytes; undefined where there is none. */
function utf8(data: Buffer): string | undefined {
  return isUtf8(data) ? data.toString("utf8") : undefined;
}

export interface TreeFile {
  readonly header: TreeFileHeader;
  /** In groups, as they are read. Throws UsageError that names the line. */
  readonly znodes: AsyncGenerator<TreeFileZnode[]>;
}

/** Throws UsageError where `name` does not begin like an export. */
export async function readTreeFile(
  name: string,
  bytes: AsyncIterable<Uint8Array>,
): Promise<TreeFile> {
  const lines = linesOf(name, bytes);
  const first = await lines.next();
  if (first.done) throw new UsageError(`${name} is empty: it is not an export of zksh`);
  const [headline, ...rest] = first.value;
  const header = parseHeader(name, headline ?? "");
  return { header, znodes: readZnodes(name, header, rest, lines) };
}

async function* readZnodes(
  name: string,
  header: TreeFileHeader,
  first: readonly string[],
  lines: AsyncGenerator<string[]>,
): AsyncGenerator<TreeFileZnode[]> {
  let number = 1;
  const parse = (group: readonly string[]) =>
    group.flatMap((line) => {
      number += 1;
      return line.trim() === "" ? [] : [parseZnode(`${name}:${number}`, header, line)];
    });
  try {
    yield parse(first);
    for await (const group of lines) yield parse(group);
  } finally {
    // Closes the file, also when the caller stops at the first group.
    await lines.return(undefined);
  }
}

/** The complete lines of each chunk. */
export async function* linesOf(
  name: string,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<string[]> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const decode = (chunk?: Uint8Array) => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch (cause) {
      throw new UsageError(`${name} is not UTF-8: it is not an export of zksh`, { cause });
    }
  };
  let open: string[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    const [head = "", ...complete] = decode(chunk).split("\n");
    open.push(head);
    length += head.length;
    if (length > MAX_LINE) throw new UsageError(`${name} has a line of more than 64 MB`);
    if (complete.length === 0) continue;
    const last = complete.pop() as string;
    yield [open.join(""), ...complete];
    open = [last];
    length = last.length;
  }
  const rest = open.join("") + decode();
  if (rest !== "") yield [rest];
}

function parseHeader(name: string, line: string): TreeFileHeader {
  const fields = parseObject(`${name}:1`, line);
  const { zksh, from, path, at, zxid } = fields;
  if (zksh === undefined || typeof path !== "string") {
    throw new UsageError(`${name} is not an export of zksh: its first line is not a header`);
  }
  if (zksh !== 1) {
    throw new UsageError(
      `${name} has format ${JSON.stringify(zksh)}, and this zksh reads format 1`,
      {
        hint: "a newer zksh reads it",
      },
    );
  }
  checkPath(`${name}:1`, path);
  return { zksh: 1, path, from: textOf(from), at: textOf(at), zxid: textOf(zxid) };
}

function parseZnode(where: string, header: TreeFileHeader, line: string): TreeFileZnode {
  const { path, data, encoding, acl, kind, ttlMs, nextSequence } = parseObject(where, line);
  if (typeof path !== "string") throw new UsageError(`${where}: no path`);
  checkPath(where, path);
  const root = header.path === "/" ? "/" : `${header.path}/`;
  if (path !== header.path && !path.startsWith(root))
    throw new UsageError(`${where}: ${path} is not below ${header.path}`);
  if (typeof kind !== "string" || !KINDS.includes(kind))
    throw new UsageError(`${where}: unknown kind ${JSON.stringify(kind)}`);
  return {
    path,
    data: parseData(where, data, encoding),
    ...(acl !== undefined && { acl: parseAclField(where, acl) }),
    kind: kind as NodeKind,
    ...(ttlMs !== undefined && { ttlMs: parseCount(where, "ttlMs", ttlMs, 2 ** 40) }),
    ...(nextSequence !== undefined && {
      nextSequence: parseCount(where, "nextSequence", nextSequence, 2 ** 31),
    }),
  };
}

function parseObject(where: string, line: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new UsageError(`${where}: not JSON`, { cause });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new UsageError(`${where}: not an object`);
  return value as Record<string, unknown>;
}

function parseData(where: string, data: unknown, encoding: unknown): Buffer | null {
  if (data === null) return null;
  if (typeof data !== "string") throw new UsageError(`${where}: data is not a text`);
  if (encoding === "utf8") return Buffer.from(data, "utf8");
  if (encoding !== "base64")
    throw new UsageError(`${where}: unknown encoding ${JSON.stringify(encoding)}`);
  const bytes = Buffer.from(data, "base64");
  if (bytes.toString("base64") !== data) throw new UsageError(`${where}: data is not base64`);
  return bytes;
}

function parseAclField(where: string, acl: unknown): Acl[] {
  if (!Array.isArray(acl) || acl.length === 0 || acl.some((entry) => typeof entry !== "string"))
    throw new UsageError(`${where}: acl is not a list of scheme:id:perms`);
  try {
    return acl.map((entry: string) => {
      // An id may hold commas, as the distinguished names of x509 do.
      const [one] = parseAcl(entry.replaceAll(",", "\u0000"));
      if (!one) throw new UsageError("empty");
      return { ...one, id: one.id.replaceAll("\u0000", ",") };
    });
  } catch (cause) {
    if (!(cause instanceof UsageError)) throw cause;
    throw new UsageError(`${where}: ${cause.message}`, { cause });
  }
}

function parseCount(where: string, field: string, value: unknown, limit: number): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value < limit)
    return value;
  throw new UsageError(`${where}: bad ${field}`);
}

function checkPath(where: string, path: string): void {
  try {
    validatePath(path);
  } catch (cause) {
    if (!(cause instanceof UsageError)) throw cause;
    throw new UsageError(`${where}: ${cause.message}`, { cause });
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
