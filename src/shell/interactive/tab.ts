/** What TAB does at the prompt: completes, or lists the candidates, within a deadline. */

import { within } from "../../async/within.ts";
import { type Cell, columns } from "../../render/columns.ts";
import { escapeName } from "../../text/escape.ts";
import { shorten } from "../../text/shorten.ts";
import type { FrontEnd } from "../front-end.ts";
import type { ShellState } from "../shell-state.ts";
import { ChildrenCache } from "./children-cache.ts";
import { type CompletionSources, complete } from "./completer.ts";
import type { Screen } from "./screen.ts";
import type { SessionKeeper } from "./session-keeper.ts";

/** After this the prompt is free again; later answers are cached for the next TAB. */
const DEADLINE_MS = 300;

/** Of a name that is shown: two lines of a usual terminal. */
const MAX_NAME = 160;

export interface TabOptions {
  readonly frontEnd: FrontEnd;
  readonly state: ShellState;
  readonly keeper: SessionKeeper;
  readonly screen: Screen;
}

export class Tab {
  readonly cache = new ChildrenCache();
  readonly #options: TabOptions;
  /** Aborts open requests, which a session that closes would wait for. */
  readonly #stopped = new AbortController();
  #last: string | undefined;

  constructor(options: TabOptions) {
    this.#options = options;
  }

  async press(before: string): Promise<void> {
    const { frontEnd, state, keeper, screen } = this.#options;
    const { editor } = screen;
    const insists = before === this.#last;
    this.#last = before;
    const list: CompletionSources["list"] = async (parent) => {
      const current = keeper.session;
      return current
        ? this.cache.list(parent, current, { insists, signal: this.#stopped.signal })
        : {};
    };
    const completion = await within(
      DEADLINE_MS,
      // A failure is not worth a message while a line is being typed.
      complete(before, {
        commands: frontEnd.program.commands,
        aliases: frontEnd.program.aliases.keys(),
        cwd: state.cwd,
        heldLocks: [...state.heldLocks.keys()],
        list,
      }).catch(() => undefined),
    );
    // The line was edited meanwhile: the answer belongs to another question.
    if (editor.before !== before) return;
    if (completion === undefined) return screen.print("(still loading; TAB again)\n");
    if (completion.text !== before) return editor.replaceBefore(completion.text);
    const cells = completion.shown.map(
      (name): Cell => ({ text: escapeName(shorten(name, MAX_NAME)) }),
    );
    const note = completion.note === undefined ? "" : `${completion.note}\n`;
    if (cells.length > 0 || note !== "")
      screen.print(columns(cells, frontEnd.io.stdout.columns) + note);
  }

  /** The shell is left. */
  stop(): void {
    this.#stopped.abort();
  }
}
