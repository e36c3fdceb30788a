/** What a command can read and ask while it runs. */

export interface CommandInput {
  /** Resolves when stdin has ended; the bytes before its end are thrown away. */
  end(signal: AbortSignal): Promise<void>;
  /**
   * Why waiting for stdin is pointless: it has ended, or it is a file. Its remaining bytes are
   * thrown away.
   */
  isOver(): "ended" | "file" | undefined;
  /** The bytes of stdin, as they come. */
  chunks(): AsyncIterable<Uint8Array>;
  /** The answer to the question of {@link Command.secret}. */
  readonly secret?: string;
  /** stdin and stdout are a terminal, which a program can be given. */
  readonly hasTerminal: boolean;
  /**
   * Asks a question that only comes up while the command runs. No if there is no user to ask, yes
   * with --yes.
   */
  confirm(question: string): Promise<boolean>;
  /** Undefined where no person can be asked; --yes cannot answer it. */
  readonly interview: Interview | undefined;
}

/** Asks a person more than yes or no. Ctrl-C rejects with InterruptedError. */
export interface Interview {
  /** `check` returns what is wrong with an answer. */
  text(question: TextQuestion): Promise<string>;
  choose<T>(question: string, choices: readonly Choice<T>[]): Promise<T>;
  confirm(question: string): Promise<boolean>;
}

interface TextQuestion {
  readonly question: string;
  readonly preset?: string;
  check?(answer: string): string | undefined;
}

interface Choice<T> {
  readonly name: string;
  readonly value: T;
}
