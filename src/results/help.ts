/** What is said of zksh itself. */

/** One row of a help text: what is written, and what it means. */
export interface HelpRow {
  readonly term: string;
  readonly summary: string;
}

/** The overview: all commands by group, and what else there is help about. */
export interface HelpResult {
  readonly kind: "help";
  readonly groups: readonly { readonly title: string; readonly rows: readonly HelpRow[] }[];
  readonly topics: readonly HelpRow[];
  /** The lines that the settings file has names for. */
  readonly aliases: readonly HelpRow[];
}

/** A page that is not about one command. A section is a table, a text, or both. */
export interface TopicResult {
  readonly kind: "topic";
  readonly name: string;
  readonly summary: string;
  readonly sections: readonly {
    readonly title?: string;
    readonly text?: string;
    readonly rows?: readonly HelpRow[];
  }[];
}

/** One command's page. */
export interface CommandHelpResult {
  readonly kind: "command-help";
  readonly name: string;
  readonly aliases: readonly string[];
  readonly summary: string;
  readonly usage: string;
  readonly details?: string;
  readonly args: readonly HelpRow[];
  readonly options: readonly HelpRow[];
  readonly examples: readonly string[];
}

interface VersionResult {
  readonly kind: "version";
  readonly version: string;
}

export type HelpPageResult = HelpResult | TopicResult | CommandHelpResult | VersionResult;
