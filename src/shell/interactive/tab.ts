/**
 * What TAB does at the prompt: completes, or shows what there is, and never keeps anybody waiting.
 */

import { within } from "../../async/within.ts";
import { type Cell, columns } from "../../render/columns.ts";
import type { Session } from "../../session/session.ts";
import { escapeName } from "../../text/escape.ts";
import { shorten } from "../../text/shorten.ts";
import { ChildrenCache } from "./children-cache.ts";
import { type CompletionSources, complete } from "./completer.ts";

/** After this the prompt is free again; what arrives later is there for the next TAB. */
const DEADLINE_MS = 300;

/** Of each name that is shown: two lines of a usual terminal. */
const MAX_NAME = 160;

export interface TabOptions {
  readonly commands: CompletionSources["commands"];
  cwd(): string;
  session(): Session | undefined;
  /** The paths of the locks that the shell holds. */
  heldLocks(): readonly string[];
  /** The text in front of the cursor now. */
  before(): string;
  replaceBefore(text: string): void;
  print(text: string): void;
  columns(): number;
}

export class Tab {
  readonly cache = new ChildrenCache();
  readonly #options: TabOptions;
  /**
   * A session that is closed waits for what was asked of it: not for names that nobody will see.
   */
  readonly #stopped = new AbortController();
  #last: string | undefined;

  constructor(options: TabOptions) {
    this.#options = options;
  }

  async press(before: string): Promise<void> {
    const { commands, cwd, session, heldLocks, columns: width } = this.#options;
    const insists = before === this.#last;
    this.#last = before;
    const list: CompletionSources["list"] = async (parent) => {
      const current = session();
      return current
        ? this.cache.list(parent, current, { insists, signal: this.#stopped.signal })
        : {};
    };
    const completion = await within(
      DEADLINE_MS,
      // A failure is not worth a message while a line is being typed.
      complete(before, { commands, cwd: cwd(), heldLocks: heldLocks(), list }).catch(
        () => undefined,
      ),
    );
    // Typed on meanwhile: the answer belongs to another question.
    if (this.#options.before() !== before) return;
    if (completion === undefined) return this.#options.print("(still loading; TAB again)\n");
    if (completion.text !== before) return this.#options.replaceBefore(completion.text);
    const cells = completion.shown.map(
      (name): Cell => ({ text: escapeName(shorten(name, MAX_NAME)) }),
    );
    const note = completion.note === undefined ? "" : `${completion.note}\n`;
    if (cells.length > 0 || note !== "") this.#options.print(columns(cells, width()) + note);
  }

  /** The shell is left. */
  stop(): void {
    this.#stopped.abort();
  }
}
