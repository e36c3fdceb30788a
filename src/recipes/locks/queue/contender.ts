/**
 * Who queues below a lock's path, read from the names alone. Every library puts its own word in
 * front of the ten digits, and looks for nothing else; we read them all, because a lock that
 * overlooks a holder excludes nothing.
 */

/** What it wants: all for itself, a share, a permit, or to lead. */
export type Claim = "lock" | "read" | "write" | "lease" | "latch";

/**
 * Who makes names like this. Curator, go-zookeeper and zksh respect each other's; the data tells
 * them apart.
 */
type Family = "curator" | "kazoo" | "writelock" | "textbook";

export interface Contender {
  readonly name: string;
  readonly claim: Claim;
  readonly family: Family;
  /** The server's number: 32 bits with a sign. */
  readonly sequence: number;
  /** What a client finds its own ticket by; undefined where the library has none. */
  readonly uuid?: string;
}

/**
 * In front of the ten digits, the more exact first; and first of all the one that is nearly always
 * meant.
 */
const LABELS: readonly {
  readonly label: RegExp;
  readonly claim: Claim;
  readonly family: Family;
}[] = [
  { label: /^_c_.*lock-$/, claim: "lock", family: "curator" },
  { label: /__WRIT__$/, claim: "write", family: "curator" },
  { label: /__READ__$/, claim: "read", family: "curator" },
  { label: /__rlock__$/, claim: "read", family: "kazoo" },
  { label: /__lock__$/, claim: "lock", family: "kazoo" },
  { label: /^x--?\d+-$/, claim: "lock", family: "writelock" },
  { label: /^lock-(0x)?[0-9a-f]+-$/i, claim: "lock", family: "textbook" },
  { label: /lease-$/, claim: "lease", family: "curator" },
  { label: /latch-$/, claim: "latch", family: "curator" },
  { label: /lock-$/, claim: "lock", family: "textbook" },
  { label: /^(.*-)?write-$/, claim: "write", family: "textbook" },
  { label: /^(.*-)?read-$/, claim: "read", family: "textbook" },
];

const PROTECTED = /^_c_([0-9a-f-]{32,36})-/;
const KAZOO_ID = /^([0-9a-f]{32})__/;

/** Undefined for a child that is not a ticket. */
export function parseContender(name: string): Contender | undefined {
  for (const start of numberStarts(name)) {
    const before = name.slice(0, start);
    const found = LABELS.find(({ label }) => label.test(before));
    if (!found) continue;
    const { claim, family } = found;
    const sequence = Number(name.slice(start));
    const uuid = PROTECTED.exec(name)?.[1] ?? KAZOO_ID.exec(name)?.[1];
    return uuid === undefined
      ? { name, claim, family, sequence }
      : { name, claim, family, sequence, uuid };
  }
  return undefined;
}

/** Where the server's number may begin: it has ten characters at least, a sign among them. */
function numberStarts(name: string): number[] {
  const isNumber = (start: number) => start >= 0 && areDigits(name, start);
  const sign = name.lastIndexOf("-");
  const digits = name.length - sign - 1;
  const starts = isNumber(name.length - 10) ? [name.length - 10] : [];
  if ((digits === 9 || digits === 10) && sign >= 0 && isNumber(sign + 1)) starts.push(sign);
  return starts;
}

function areDigits(name: string, start: number): boolean {
  for (let at = start; at < name.length; at++) {
    const unit = name.charCodeAt(at);
    if (unit < 0x30 || unit > 0x39) return false;
  }
  return true;
}

/** All of them, first come first. Those that are `known` are not parsed again. */
export function parseContenders(
  names: Iterable<string>,
  known?: ReadonlyMap<string, Contender>,
): Contender[] {
  const contenders: Contender[] = [];
  for (const name of names) {
    const contender = known?.get(name) ?? parseContender(name);
    if (contender) contenders.push(contender);
  }
  return contenders.sort(bySequence);
}

/** The counter of servers before 3.6 wraps around, so the order follows from the distance. */
export function bySequence(a: Contender, b: Contender): number {
  return compareSequences(a.sequence, b.sequence) || (a.name < b.name ? -1 : 1);
}

export function compareSequences(a: number, b: number): number {
  return (a - b) | 0;
}

/**
 * Whether `other`, having come earlier, keeps one who wants `claim` waiting. Others keep locks and
 * read/write locks on one path apart; we do not, because both mean to be alone there.
 */
export function blocks(claim: Claim, other: Contender): boolean {
  switch (claim) {
    case "lock":
    case "write":
      return other.claim === "lock" || isReadWrite(other);
    case "read":
      return other.claim === "lock" || other.claim === "write";
    case "lease":
    case "latch":
      return other.claim === claim;
  }
}

export function isReadWrite({ claim }: Contender): boolean {
  return claim === "read" || claim === "write";
}

const LEASES = "semaphore leases";
/** Ours are among them: the names are the same. */
export const CURATOR_SORTS = ["Curator locks", "Curator read/write locks"] as const;

/**
 * The sorts of tickets on one path of which one overlooks the other, as text for people; none when
 * all respect each other. Two programs that use them there can both hold the lock at once. `ours`:
 * the names of tickets that zksh has made, as far as that is known.
 */
export function incompatibleKinds(
  contenders: readonly Contender[],
  children: readonly string[] = [],
  ours: ReadonlySet<string> = new Set(),
): readonly string[] {
  if (children.length === 1 && contenders.length === 1) return [];
  // A semaphore's tickets are one level below.
  const sorts = new Set(children.includes("leases") ? [LEASES] : []);
  const compat = new Map<string, Set<string>>();
  for (const contender of contenders) {
    const sort = sortOf(contender);
    // Two tickets of one client: it queues in both families, and is no stranger to either.
    if (contender.uuid !== undefined) {
      const own = compat.get(contender.uuid) ?? new Set();
      compat.set(contender.uuid, own.add(sort));
    } else sorts.add(sort);
  }
  for (const own of compat.values()) if (own.size === 1) for (const sort of own) sorts.add(sort);
  const isCuratorHere = contenders.some(
    ({ family, name }) => family === "curator" && !ours.has(name),
  );
  const [locks, readWriteLocks] = CURATOR_SORTS;
  if (!isCuratorHere && sorts.has(locks)) sorts.delete(readWriteLocks);
  return sorts.size > 1 ? [...sorts].sort() : [];
}

function sortOf({ claim, family }: Contender): string {
  if (claim === "lease") return LEASES;
  if (claim === "latch") return "leader latches";
  const side = claim === "lock" || family === "kazoo" ? "locks" : "read/write locks";
  return `${family === "writelock" ? "WriteLock" : family === "curator" ? "Curator" : family} ${side}`;
}
