/** What colours mean here; a palette is chosen once per stream. */
export interface Colors {
  readonly error: (text: string) => string;
  readonly heading: (text: string) => string;
  /** A znode that has children. */
  readonly parent: (text: string) => string;
  readonly ephemeral: (text: string) => string;
  readonly faint: (text: string) => string;
}

const plain = (text: string) => text;

export const noColors: Colors = { error: plain, heading: plain, parent: plain, ephemeral: plain, faint: plain };

/** Loads chalk only where there is something to colour. */
export async function createColors(level: 0 | 1 | 2 | 3): Promise<Colors> {
  if (level === 0) return noColors;
  const { Chalk } = await import("chalk");
  const chalk = new Chalk({ level });
  return {
    error: chalk.red.bold,
    heading: chalk.bold,
    parent: chalk.blue.bold,
    ephemeral: chalk.yellow,
    faint: chalk.dim,
  };
}
