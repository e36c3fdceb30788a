/**
 * What colours mean, in one place. Renderers name a meaning, never a colour, and nothing is said by
 * colour alone: each meaning also has a word, a mark or a place, for the colour-blind and for
 * terminals without colours.
 *
 * Only the 16 colours of the terminal's own palette are used, so that the user decides what they
 * look like. Which ones follows from their contrast in ten common palettes (xterm, VGA, GNOME,
 * macOS, Windows, VS Code, PuTTY, Solarized …):
 * - not blue (1.6 to 2.6 on black in seven of them), not yellow (1.4 to 3 on white in eight), no bright colour on white;
 * - red and magenta can be read on both. Cyan and green have 6 and more on black, but about 3 on white, so that they are
 *   for accents, and never bold: many terminals show bold as bright;
 * - what has to be read in any case (paths, titles, the keys of JSON) keeps the text's own colour and is bold;
 * - faint is `dim`, which halves the text's own colour. Bright black is the background's colour in some palettes.
 */
export interface Theme {
  /** The server in the prompt. */
  readonly server: Paint;
  /** A path in the prompt and in reports. */
  readonly path: Paint;
  /** A lock that is held: in the prompt, the holder in whoholds. */
  readonly held: Paint;
  /** The contender that gets the lock next. */
  readonly next: Paint;
  readonly readOnly: Paint;
  /** A word that the user gave to a server or a profile. */
  readonly label: (text: string, colour?: LabelColour) => string;
  /** A znode that has children. */
  readonly parent: Paint;
  readonly ephemeral: Paint;
  readonly key: Paint;
  readonly string: Paint;
  readonly number: Paint;
  /** true, false and null. */
  readonly literal: Paint;
  /** A title, or the head of a table. */
  readonly heading: Paint;
  /** A word of a usage line that stands for a value. */
  readonly placeholder: Paint;
  /** The command of a line that can be typed as it stands. */
  readonly command: Paint;
  /** The name of a step in the progress of a lock. */
  readonly step: Paint;
  readonly faint: Paint;
  readonly good: Paint;
  readonly warning: Paint;
  readonly error: Paint;
}

/** What a profile can choose for its label, which is a block of that colour: readable on all. */
export const LABEL_COLOURS = ["red", "green", "yellow", "blue", "magenta", "cyan"] as const;
export type LabelColour = (typeof LABEL_COLOURS)[number];

export type Paint = (text: string) => string;

const plain: Paint = (text) => text;

export const plainTheme: Theme = {
  server: plain,
  path: plain,
  held: plain,
  next: plain,
  readOnly: plain,
  label: plain,
  parent: plain,
  ephemeral: plain,
  key: plain,
  string: plain,
  number: plain,
  literal: plain,
  heading: plain,
  placeholder: plain,
  command: plain,
  step: plain,
  faint: plain,
  good: plain,
  warning: plain,
  error: plain,
};

/** Loads chalk only where there is something to colour. */
export async function createTheme(level: 0 | 1 | 2 | 3): Promise<Theme> {
  if (level === 0) return plainTheme;
  const { Chalk } = await import("chalk");
  const chalk = new Chalk({ level: 1 });
  return {
    server: chalk.cyan,
    path: chalk.bold,
    held: chalk.green,
    next: chalk.bold,
    readOnly: chalk.magenta,
    label: (text, colour) => (colour ? chalk.inverse[colour] : chalk.inverse)(text),
    parent: chalk.bold,
    ephemeral: chalk.magenta,
    key: chalk.bold,
    string: chalk.green,
    number: chalk.magenta,
    literal: chalk.magenta.bold,
    heading: chalk.bold,
    placeholder: chalk.underline,
    command: chalk.cyan,
    step: chalk.cyan,
    faint: chalk.dim,
    good: chalk.green,
    warning: chalk.magenta.bold,
    error: chalk.red.bold,
  };
}
