/** What a contender held: alone, or a side of a read/write lock, or one permit of a semaphore. */
export type Kind = "exclusive" | "read" | "write" | "permit";

/** One stay under a lock, from its first to its last line in the log. */
export interface Interval {
  readonly contender: string;
  /** `contender#n`, once in a log. */
  readonly id: string;
  readonly kind: Kind;
  /** The fencing token; clients other than zksh have none. */
  readonly token: bigint | undefined;
  /** The sequence number of the ticket, where it says something about the order. */
  readonly ticket: number | undefined;
  readonly beginNs: bigint;
  /** Of its last line: whoever was killed leaves no end, but beats until then. */
  readonly lastNs: bigint;
  readonly hasEnded: boolean;
}

export interface Violation {
  readonly rule: "exclusion" | "limit" | "token" | "order";
  readonly text: string;
  /** The intervals concerned, the one that began first in front. */
  readonly between: readonly Interval[];
}

export interface Rules {
  /** How many permits may be held at once. */
  readonly limit?: number;
  /** Whoever took the lower ticket goes first. */
  readonly isFair?: boolean;
}

/**
 * Reads a log to which many processes append, a line a write:
 * `begin <ns> <contender>#<n> <kind> <token|-> <ticket|->`, `beat <ns> <contender>#<n>`, `end <ns> <contender>#<n>`,
 * with the nanoseconds of CLOCK_MONOTONIC.
 */
export function parseExclusionLog(text: string): Interval[] {
  const intervals = new Map<string, { -readonly [Key in keyof Interval]: Interval[Key] }>();
  if (text !== "" && !text.endsWith("\n"))
    throw new Error(`the last line is cut: ${text.slice(-80)}`);
  for (const line of text.split("\n").slice(0, -1)) {
    const [verb, ns = "", id = "", kind = "", token = "-", ticket = "-"] = line.split(" ");
    const known = intervals.get(id);
    if (!/^\d+$/.test(ns) || !/^.+#\d+$/.test(id))
      throw new Error(`not a line of the log: ${line}`);
    if (verb === "begin") {
      if (known) throw new Error(`begins twice: ${line}`);
      intervals.set(id, {
        contender: id.slice(0, id.lastIndexOf("#")),
        id,
        kind: kindOf(kind, line),
        token: token === "-" ? undefined : BigInt(token),
        ticket: ticket === "-" ? undefined : Number(ticket),
        beginNs: BigInt(ns),
        lastNs: BigInt(ns),
        hasEnded: false,
      });
    } else if (verb === "beat" || verb === "end") {
      if (known === undefined) throw new Error(`has not begun: ${line}`);
      if (known.hasEnded) throw new Error(`goes on after its end: ${line}`);
      known.lastNs = BigInt(ns);
      known.hasEnded = verb === "end";
    } else {
      throw new Error(`not a line of the log: ${line}`);
    }
  }
  return [...intervals.values()].sort((a, b) => compare(a.beginNs, b.beginNs));
}

/** Every breach of the rules, in the order of the log; none is what a lock is for. */
export function violations(intervals: readonly Interval[], rules: Rules = {}): Violation[] {
  const found: Violation[] = [];
  /** Those that might still overlap with what comes. */
  let open: Interval[] = [];
  let lastToken: Interval | undefined;
  let lastExclusiveTicket: Interval | undefined;
  let highestTicket: Interval | undefined;

  for (const next of intervals) {
    open = open.filter((earlier) => earlier.lastNs >= next.beginNs);
    for (const earlier of open.filter((one) => excludes(one.kind, next.kind))) {
      found.push({
        rule: "exclusion",
        text: `${describe(earlier)} and ${describe(next)}`,
        between: [earlier, next],
      });
    }
    open.push(next);
    const permits = open.filter((one) => one.kind === "permit");
    if (next.kind === "permit" && rules.limit !== undefined && permits.length > rules.limit) {
      const text = `${permits.length} permits of ${rules.limit}: ${permits.map(describe).join(" and ")}`;
      found.push({ rule: "limit", text, between: permits });
    }

    if (isExclusive(next.kind) && next.token !== undefined) {
      if (lastToken?.token !== undefined && lastToken.token >= next.token) {
        const text = `token ${next.token} of ${describe(next)} after ${lastToken.token} of ${describe(lastToken)}`;
        found.push({ rule: "token", text, between: [lastToken, next] });
      }
      lastToken = next;
    }

    if (rules.isFair && next.ticket !== undefined) {
      // Readers stand together and may begin in any order; writers part what is before them from
      // what is after.
      const before = isExclusive(next.kind) ? highestTicket : lastExclusiveTicket;
      if (before?.ticket !== undefined && before.ticket >= next.ticket) {
        const text = `ticket ${next.ticket} of ${describe(next)} after ${before.ticket} of ${describe(before)}`;
        found.push({ rule: "order", text, between: [before, next] });
      }
      if (highestTicket?.ticket === undefined || next.ticket > highestTicket.ticket)
        highestTicket = next;
      if (isExclusive(next.kind)) lastExclusiveTicket = next;
    }
  }
  return found;
}

/** How often each of them was served; 0 for those who never were. */
export function served(
  intervals: readonly Interval[],
  contenders: readonly string[],
): Map<string, number> {
  const counts = new Map(contenders.map((name) => [name, 0]));
  for (const { contender } of intervals) counts.set(contender, (counts.get(contender) ?? 0) + 1);
  return counts;
}

/** One line about an interval; times in ms on the machine's monotonic clock. */
function describe({ id, kind, token, beginNs, lastNs, hasEnded }: Interval): string {
  const ms = (ns: bigint) => (Number(ns) / 1e6).toFixed(3);
  return `${id} ${kind}${token === undefined ? "" : ` token ${token}`} [${ms(beginNs)}, ${ms(lastNs)}]${hasEnded ? "" : " (no end)"}`;
}

function excludes(one: Kind, other: Kind): boolean {
  return isExclusive(one) || isExclusive(other);
}

function isExclusive(kind: Kind): boolean {
  return kind === "exclusive" || kind === "write";
}

function kindOf(word: string, line: string): Kind {
  if (word === "exclusive" || word === "read" || word === "write" || word === "permit") return word;
  throw new Error(`not a line of the log: ${line}`);
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
