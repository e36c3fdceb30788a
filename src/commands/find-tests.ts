/** The tests of `find`: options that a znode must meet, all of them. */
import { UsageError } from "../errors.ts";
import type { TreeEntry } from "../recipes/trees/read-tree.ts";
import { isSequentialName, kindOf } from "../session/node-kind.ts";
import { baseName } from "../session/path.ts";
import { globMatcher } from "../text/glob.ts";
import { parseSize } from "../text/size.ts";
import { duration, flag, option, type ValueParser, word } from "./arguments.ts";
import { oneOf } from "./choices.ts";

type NumberTest = (value: number) => boolean;
type Kind = "persistent" | "ephemeral" | "sequential" | "container" | "ttl";

const KINDS: readonly Kind[] = ["persistent", "ephemeral", "sequential", "container", "ttl"];

const kind = oneOf(KINDS, "kind");

const pattern: ValueParser<RegExp> = (text) => {
  try {
    return new RegExp(text, "u");
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(why, { cause });
  }
};

/** An ephemeral's owner as every output shows it: `0x…`; decimal is read too. */
const owner: ValueParser<bigint | "me"> = (text) => {
  if (text === "me") return text;
  if (/^(0x[0-9a-f]{1,16}|\d{1,20})$/i.test(text)) return BigInt.asUintN(64, BigInt(text));
  throw new UsageError(`bad session id '${text}'`, {
    hint: "use me, or an id as stat shows it: 0x100006285b70000",
  });
};

/** `+N` more than N, `-N` less than N, `N` exactly. */
function comparison(parse: (text: string) => number): ValueParser<NumberTest> {
  return (text) => {
    const sign = text[0];
    const limit = parse(sign === "+" || sign === "-" ? text.slice(1) : text);
    if (sign === "+") return (value) => value > limit;
    if (sign === "-") return (value) => value < limit;
    return (value) => value === limit;
  };
}

function wholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new UsageError(`bad number '${text}'`, { hint: "use for example +1000, -10 or 3" });
}

export const findTests = {
  name: option("", "glob", word, "the name matches: *, ? and [a-z]"),
  regex: option("", "re", pattern, "the path matches this regular expression"),
  kind: option("", "kind", kind, "persistent, ephemeral, sequential, container or ttl"),
  owner: option("", "id", owner, "it is an ephemeral of this session (me: of our own)"),
  newer: option("", "dur", duration, "its data was changed within this time"),
  older: option("", "dur", duration, "its data was not changed within this time"),
  size: option("", "n", comparison(parseSize), "+N more, -N less bytes of data (10k, 1m)"),
  children: option("", "n", comparison(wholeNumber), "+N more, -N fewer or exactly N children"),
  empty: flag("", "it has neither data nor children"),
  data: option("", "text", word, "its data contains this text"),
} as const;

export interface FindTestValues {
  readonly name: string | undefined;
  readonly regex: RegExp | undefined;
  readonly kind: Kind | undefined;
  readonly owner: bigint | "me" | undefined;
  readonly newer: number | undefined;
  readonly older: number | undefined;
  readonly size: NumberTest | undefined;
  readonly children: NumberTest | undefined;
  readonly empty: boolean;
  readonly data: string | undefined;
}

/** What tests need to be told, beside the znode. */
export interface FindTestContext {
  readonly now: number;
  /** The session that `--owner me` means. */
  readonly sessionId: () => bigint;
}

export interface FindTest {
  /** Decides by the path alone; asked first. */
  readonly byPath: (path: string) => boolean;
  /** Undefined where the path is enough. */
  readonly byEntry: ((entry: TreeEntry) => boolean) | undefined;
  readonly needsData: boolean;
}

export function findTest(values: FindTestValues, { now, sessionId }: FindTestContext): FindTest {
  const { name, regex, newer, older, size, children, empty, data } = values;
  const ofPath: ((path: string) => boolean)[] = [];
  const ofEntry: ((entry: TreeEntry) => boolean)[] = [];
  if (name !== undefined) {
    const matches = globMatcher(name);
    ofPath.push((path) => matches(baseName(path)));
  }
  if (regex) ofPath.push((path) => regex.test(path));
  if (values.kind === "sequential") ofPath.push((path) => isSequentialName(baseName(path)));
  else if (values.kind) ofEntry.push(({ stat }) => kindOf(stat) === values.kind);
  if (values.owner !== undefined) {
    ofEntry.push(({ stat }) => {
      const wanted = values.owner === "me" ? BigInt.asUintN(64, sessionId()) : values.owner;
      return kindOf(stat) === "ephemeral" && BigInt.asUintN(64, stat.ephemeralOwner) === wanted;
    });
  }
  if (newer !== undefined) ofEntry.push(({ stat }) => stat.mtime >= now - newer);
  if (older !== undefined) ofEntry.push(({ stat }) => stat.mtime < now - older);
  if (size) ofEntry.push(({ stat }) => size(stat.dataLength));
  if (children) ofEntry.push(({ stat }) => children(stat.numChildren));
  if (empty) ofEntry.push(({ stat }) => stat.dataLength === 0 && stat.numChildren === 0);
  if (data !== undefined) {
    const bytes = Buffer.from(data);
    ofEntry.push((entry) => entry.data?.includes(bytes) ?? false);
  }
  return {
    byPath: (path) => ofPath.every((test) => test(path)),
    byEntry: ofEntry.length === 0 ? undefined : (entry) => ofEntry.every((test) => test(entry)),
    needsData: data !== undefined,
  };
}
