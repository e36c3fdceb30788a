/** A tree as the lines of an export file; see tree-file.ts for the format. */
import { kindOf } from "../../session/node-kind.ts";
import type { Session } from "../../session/session.ts";
import { hexId } from "../../text/hex-id.ts";
import type { AclSource } from "./acl-readers.ts";
import type { ChangesUnder } from "./changed-under.ts";
import { type EntryWithAcl, readAcls } from "./read-acls.ts";
import { readPaths, readTree, type TreeEntry } from "./read-tree.ts";
import { headerLine, znodeLine, znodeOf } from "./tree-file.ts";
import type { WalkOptions } from "./walk.ts";

export interface ExportOptions extends Omit<WalkOptions, "maxDepth"> {
  /** Left out: the export has no ACLs. */
  readonly acls?: AclSource | undefined;
  readonly withEphemerals: boolean;
}

/** Lines are yielded in pieces of about this length. */
const PIECE_LENGTH = 1024 * 1024;

export class TreeExport {
  readonly #session: Session;
  readonly #root: string;
  readonly #options: ExportOptions;
  #znodes = 0;
  #ephemerals = 0;

  constructor(session: Session, root: string, options: ExportOptions) {
    this.#session = session;
    this.#root = root;
    this.#options = options;
  }

  /** The number of lines of znodes so far. */
  get znodes(): number {
    return this.#znodes;
  }

  /** The number of ephemerals that were left out. */
  get ephemerals(): number {
    return this.#ephemerals;
  }

  /** The header and a line for each znode, in pieces. Tells `changes` of every znode. */
  async *lines(changes: ChangesUnder): AsyncGenerator<string> {
    const at = new Date().toISOString();
    const zxid = hexId(this.#session.lastZxid);
    const from = this.#session.server ?? "";
    yield headerLine({ zksh: 1, from, path: this.#root, at, zxid });
    let text = "";
    for await (const piece of this.#withAcls(readTree(this.#session, this.#root, this.#options))) {
      for (const entry of piece) {
        changes.saw(entry);
        const line = this.#line(entry);
        if (line === undefined) this.#ephemerals += 1;
        else this.#znodes += 1;
        text += line ?? "";
        if (text.length < PIECE_LENGTH) continue;
        yield text;
        text = "";
      }
      if (text !== "") yield text;
      text = "";
    }
  }

  /** Reads these znodes; undefined stands for those that are gone or left out. */
  async linesOf(paths: readonly string[]): Promise<Map<string, string | undefined>> {
    const lines = new Map<string, string | undefined>(paths.map((path) => [path, undefined]));
    const entries = readPaths(this.#session, [paths], this.#options);
    for await (const piece of this.#withAcls(entries))
      for (const entry of piece) lines.set(entry.path, this.#line(entry));
    return lines;
  }

  #withAcls(entries: AsyncIterable<TreeEntry[]>): AsyncIterable<EntryWithAcl[]> {
    const { acls } = this.#options;
    return acls ? readAcls(acls, entries, this.#options) : entries;
  }

  #line({ path, data = null, stat, acl }: EntryWithAcl): string | undefined {
    if (kindOf(stat) === "ephemeral" && !this.#options.withEphemerals) return undefined;
    return znodeLine(znodeOf(path, { data, stat, acl }));
  }
}
