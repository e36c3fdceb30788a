import type { Session } from "../../session/session.ts";
import type { Execution } from "../execute.ts";
import type { FrontEnd } from "../front-end.ts";
import type { ShellState } from "../shell-state.ts";

type NewExecution = (command: string, session: Session, frontEnd?: FrontEnd) => Execution;

/** The session and the working znode of script lines, valid until one of them changes. */
export class ScriptPlace {
  readonly session: Session;
  readonly cwd: string;
  /** By command: all lines of a command share one. */
  readonly #executions = new Map<string, Execution>();
  readonly #newExecution: NewExecution;

  constructor(session: Session, cwd: string, newExecution: NewExecution) {
    this.session = session;
    this.cwd = cwd;
    this.#newExecution = newExecution;
  }

  /** `ofLine` is the front end of a line with its own options. */
  execution(command: string, ofLine?: FrontEnd): Execution {
    if (ofLine) return this.#newExecution(command, this.session, ofLine);
    const execution = this.#executions.get(command) ?? this.#newExecution(command, this.session);
    this.#executions.set(command, execution);
    return execution;
  }
}

export class ScriptPlaces {
  readonly #state: ShellState;
  readonly #newExecution: NewExecution;
  #place: ScriptPlace | undefined;

  constructor(state: ShellState, newExecution: NewExecution) {
    this.#state = state;
    this.#newExecution = newExecution;
  }

  /** Returns undefined if a session must be opened first. */
  now(): ScriptPlace | undefined {
    const place = this.#place;
    return place && place.session.state !== "lost" && place.cwd === this.#state.cwd
      ? place
      : undefined;
  }

  /** Returns the place; opens a session if there is none. */
  async find(): Promise<ScriptPlace> {
    this.#place =
      this.now() ??
      new ScriptPlace(await this.#state.session(), this.#state.cwd, this.#newExecution);
    return this.#place;
  }

  /** Discards the place: the next line may have another session or working znode. */
  leave(): void {
    this.#place = undefined;
  }
}
