/**
 * Quotas: clients write limits to /zookeeper/quota<path>/zookeeper_limits, and the server counts
 * the usage in zookeeper_stats beside it. A new count changes only the data of that znode: no
 * version, no zxid, no event.
 */
import { MalformedFrameError } from "../wire/jute.ts";
import { refuse } from "./refusal.ts";
import type { Znode } from "./znode.ts";

const QUOTA_ROOT = "/zookeeper/quota";
const LIMITS = "zookeeper_limits";
const USAGE = "zookeeper_stats";

export interface QuotaTree {
  find(path: string): Znode | undefined;
}

export class Quotas {
  readonly #tree: QuotaTree;
  /** The paths that have a quota. */
  readonly #limited = new Set<string>();

  constructor(tree: QuotaTree) {
    this.#tree = tree;
  }

  /** Counts a created znode, and registers a quota if the znode is one of its parts. */
  created(parent: string, name: string, path: string, bytes: number): void {
    if (parent.startsWith(QUOTA_ROOT)) {
      const about = parent.slice(QUOTA_ROOT.length);
      if (name === LIMITS && about !== "") this.#limited.add(about);
      if (name === USAGE) this.#countAfresh(about);
    }
    this.#count(path, 1, bytes);
  }

  deleted(parent: string, name: string, path: string, bytes: number): void {
    if (name === LIMITS && parent.startsWith(QUOTA_ROOT))
      this.#limited.delete(parent.slice(QUOTA_ROOT.length));
    this.#count(path, -1, -bytes);
  }

  changed(path: string, bytes: number): void {
    this.#count(path, 0, bytes);
  }

  /** Throws a Refusal if the change would exceed a hard limit. Soft limits are not enforced. */
  enforce(path: string, count: number, bytes: number): void {
    const about = this.#quotaOf(path);
    if (about === undefined) return;
    const limits = this.#tree.find(`${QUOTA_ROOT}${about}/${LIMITS}`);
    const usage = this.#tree.find(`${QUOTA_ROOT}${about}/${USAGE}`);
    if (limits === undefined || usage === undefined) return;
    const limit = parseNumbers(checked(limits.data));
    const used = parseNumbers(checked(usage.data));
    if (count !== 0 && exceeds(limit, "countHardLimit", get(used, "count") + count))
      refuse("quotaExceeded");
    if (bytes !== 0 && exceeds(limit, "byteHardLimit", get(used, "bytes") + bytes))
      refuse("quotaExceeded");
  }

  #count(path: string, count: number, bytes: number): void {
    const about = this.#quotaOf(path);
    const usage =
      about === undefined ? undefined : this.#tree.find(`${QUOTA_ROOT}${about}/${USAGE}`);
    if (usage === undefined) return;
    const numbers = parseNumbers(usage.data);
    numbers.set("count", get(numbers, "count") + count);
    numbers.set("bytes", get(numbers, "bytes") + bytes);
    usage.data = formatNumbers(numbers);
  }

  #countAfresh(about: string): void {
    const usage = this.#tree.find(`${QUOTA_ROOT}${about}/${USAGE}`);
    if (usage === undefined) return;
    let count = 0;
    let bytes = 0;
    const waiting = [about];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      const znode = this.#tree.find(path);
      if (znode === undefined) continue;
      count += 1;
      bytes += znode.data?.length ?? 0;
      for (const name of znode.children) waiting.push(`${path}/${name}`);
    }
    usage.data = formatNumbers(new Map(Object.entries({ count, bytes })));
  }

  /** Returns the nearest path with a quota, from the znode itself upward. */
  #quotaOf(path: string): string | undefined {
    if (this.#limited.size === 0) return undefined;
    for (let at = path; at !== "" && at !== "/"; at = at.slice(0, at.lastIndexOf("/"))) {
      if (this.#limited.has(at)) return at;
    }
    return undefined;
  }
}

type Numbers = Map<string, number>;

function get(numbers: Numbers, key: string): number {
  return numbers.get(key) ?? -1;
}

function exceeds(limits: Numbers, key: string, used: number): boolean {
  const limit = get(limits, key);
  return limit > -1 && used > limit;
}

/** Parses `count=2,bytes=-1=;byteHardLimit=5`. An unreadable number is -1: no limit. */
function parseNumbers(data: Buffer | null): Numbers {
  const numbers: Numbers = new Map();
  for (const pair of (data?.toString() ?? "").split(/[,;]+/)) {
    const [key = "", value = ""] = pair.split("=");
    if (key !== "") numbers.set(key, /^-?\d+$/.test(value) ? Number(value) : -1);
  }
  return numbers;
}

/** As in ZooKeeper, every write is refused if the limits cannot be parsed. */
function checked(data: Buffer | null): Buffer | null {
  const text = data?.toString() ?? "";
  const isGood =
    text === "" || text.split(/[,;]+/).every((pair) => /^[^=]*=-?\d+(?:=.*)?$/.test(pair));
  if (!isGood) throw new MalformedFrameError("a quota that cannot be read");
  return data;
}

function formatNumbers(numbers: Numbers): Buffer {
  const others = [...numbers.keys()].filter((key) => key !== "count" && key !== "bytes").sort();
  const rest = others.map((key) => `;${key}=${numbers.get(key)}`).join("");
  const text = `count=${get(numbers, "count")},bytes=${get(numbers, "bytes")}`;
  return Buffer.from(rest === "" ? text : `${text}=${rest}`);
}
