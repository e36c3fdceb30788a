import { UsageError } from "../../errors.ts";
import type { Renderer } from "../../render/renderer.ts";
import type { Control } from "../../results/result.ts";
import type { Session, WatchListener } from "../../session/session.ts";
import type { Execution, ResultOutput } from "../execute.ts";
import type { FrontEnd } from "../front-end.ts";
import type { ShellState } from "../shell-state.ts";
import type { ScriptSource } from "./script.ts";

interface ScriptExecutionsOptions {
  readonly script: Pick<ScriptSource, "name">;
  readonly frontEnd: FrontEnd;
  readonly state: ShellState;
  readonly output: ResultOutput;
  readonly onWatch: WatchListener;
  onControl(control: Control): void;
}

/** What the lines of a script are executed with: their context, renderer and output. */
export class ScriptExecutions {
  readonly #options: ScriptExecutionsOptions;
  /** One for all lines with the same options. */
  readonly #renderers = new Map<FrontEnd, Renderer>();

  constructor(options: ScriptExecutionsOptions) {
    this.#options = options;
  }

  of(
    command: string,
    session: Session | undefined,
    frontEnd: FrontEnd = this.#options.frontEnd,
  ): Execution {
    const { script, state, output, onWatch, onControl } = this.#options;
    const context = frontEnd.context({ state, command, session, onWatch });
    return {
      ...frontEnd.execution(context),
      renderer: () => this.#renderers.get(frontEnd) ?? this.openRenderer(frontEnd),
      output,
      onControl,
      ...(script.name === "stdin" && { readStdin: refuseStdin }),
    };
  }

  /** The same for a line whose results are not gathered with those of other lines. */
  into(command: string, session: Session | undefined, frontEnd: FrontEnd): Execution {
    const { output: _, ...execution } = this.of(command, session, frontEnd);
    return { ...execution, renderer: () => frontEnd.renderer() };
  }

  async openRenderer(frontEnd: FrontEnd): Promise<Renderer> {
    const renderer = this.#renderers.get(frontEnd) ?? (await frontEnd.renderer());
    this.#renderers.set(frontEnd, renderer);
    return renderer;
  }
}

async function refuseStdin(): Promise<never> {
  throw new UsageError("stdin is the script, so it cannot be data", {
    hint: "give the data as text or @file",
  });
}
