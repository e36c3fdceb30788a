/**
 * Takes what a shell wrote apart: noise off, what must differ between two runs made alike, each
 * line's part by itself.
 */

export interface Written {
  readonly stdout: string;
  readonly stderr: string;
}

interface Part extends Written {
  readonly line: string;
}

export interface Transcript {
  readonly parts: readonly Part[];
  /**
   * Watch events come when they come, in zkCli from a thread of their own: kept apart, in their
   * order.
   */
  readonly events: readonly string[];
}

/** Lines that follow every line of a script, and what they write: the end of the line's part. */
export interface Marks {
  readonly before: readonly string[];
  readonly lines: readonly string[];
  readonly stdout: RegExp;
  readonly stderr: RegExp;
}

/** A znode that is there, and one that is not. */
export const ZNODE_MARKS: Marks = {
  before: ["create /~ ~mark~"],
  lines: ["get /~", "get /~/~"],
  stdout: /~mark~\n/,
  stderr: /Node does not exist: \/~\/~\n/,
};

/**
 * Lines that write the same with a session and without; but for zkCli's complaint that there is
 * none.
 */
export const OFFLINE_MARKS: Marks = {
  before: [],
  lines: ["printwatches", "~"],
  stdout: /printwatches is on\n(?:Not connected\n)?/,
  stderr: /ZooKeeper -server .*\n(?:\t.*\n)*Command not found: Command not found ~\n/,
};

export function withMarks(lines: readonly string[], marks: Marks): string {
  const marked = lines.flatMap((line) => [line, ...marks.lines]);
  return [...marks.before, ...marks.lines, ...marked, ""].join("\n");
}

/**
 * What was written for each line of a script made by {@link withMarks}; a program that died leaves
 * the last one open.
 */
export function readMarked(lines: readonly string[], marks: Marks, written: Written): Transcript {
  const { stdout, events } = withoutNoise(written);
  const out = normalise(stdout).split(marks.stdout).slice(1);
  const err = written.stderr.split(marks.stderr).slice(1);
  const parts = lines.map((line, index) => ({
    line,
    stdout: out[index] ?? "",
    stderr: err[index] ?? "",
  }));
  return { parts, events };
}

/** The same for a script without marks: all of it is one part. */
export function readWhole(written: Written): Transcript {
  const { stdout, events } = withoutNoise(written);
  return { parts: [{ line: "", stdout: normalise(stdout), stderr: written.stderr }], events };
}

const GREETINGS = [
  /^Connecting to .*\n/m,
  /^Welcome to ZooKeeper!\n/m,
  /^JLine support is disabled\n/m,
];

/**
 * Two prints in zkCli, between which anything can happen. They may also come in the middle of a
 * line of `ls`.
 */
const EVENT_HEAD = /\nWATCHER::\n/g;
const EVENT = /\nWatchedEvent (.*)\n/g;

/** What is left of stdout without greetings and events. */
export function withoutNoise({ stdout: raw }: Written): { stdout: string; events: string[] } {
  const events = [...raw.matchAll(EVENT)].map(([, text = ""]) => text);
  const withoutGreetings = raw.startsWith("Connecting to ")
    ? GREETINGS.reduce((text, greeting) => text.replace(greeting, ""), raw)
    : raw;
  return {
    stdout: withoutGreetings.replace(EVENT_HEAD, "").replace(EVENT, ""),
    // Of the connection itself zkCli tells too: that is noise like the greetings.
    events: events.filter((text) => !text.endsWith(" type:None path:null")),
  };
}

const JAVA_DATE = /^([cm]time) = [A-Z][a-z]{2} [A-Z][a-z]{2} \d{2} \d{2}:\d{2}:\d{2} UTC \d{4}$/gm;
const ZXID = /^([cmp]Zxid) = (0x[0-9a-f]+)$/gm;
const OWNER = /^(ephemeralOwner) = 0x[1-9a-f][0-9a-f]*$/gm;

/** Zxids become their order of appearance, so that two that are equal stay equal. */
function normalise(stdout: string): string {
  const zxids = new Map<string, number>();
  const number = (zxid: string) => {
    if (!zxids.has(zxid)) zxids.set(zxid, zxids.size + 1);
    return zxids.get(zxid);
  };
  return stdout
    .replace(ZXID, (_, name: string, zxid: string) => `${name} = zxid ${number(zxid)}`)
    .replace(JAVA_DATE, "$1 = <date>")
    .replace(OWNER, "$1 = <session>");
}
