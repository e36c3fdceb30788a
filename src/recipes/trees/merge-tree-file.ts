/** Puts lines that were read again in their places among the lines of an export. */
import { comparePaths } from "./diff-trees.ts";
import { linesOf } from "./tree-file.ts";

/** `{"path":"/a",…`, as znodeLine writes it. */
const PATH = /^\{"path":("(?:[^"\\]|\\.)*")/;

export interface MergedPiece {
  readonly text: string;
  /** The number of znodes in it. */
  readonly znodes: number;
}

/**
 * `bytes` are an export of this program, sorted as it writes them; `replaced` has the new lines by
 * path, and undefined for a znode whose line goes.
 */
export async function* mergeTreeFile(
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  replaced: ReadonlyMap<string, string | undefined>,
): AsyncGenerator<MergedPiece> {
  const waiting = [...replaced].sort(([one], [other]) => comparePaths(one, other));
  let next = 0;
  let isHeader = true;
  for await (const group of linesOf(name, bytes)) {
    let text = "";
    let znodes = 0;
    const add = (line: string | undefined) => {
      if (line === undefined) return;
      text += line;
      znodes += 1;
    };
    for (const line of group) {
      if (line === "") continue;
      if (isHeader) text += `${line}\n`;
      else {
        const path = pathOf(line);
        for (; next < waiting.length; next++) {
          const [own, newLine] = waiting[next] as (typeof waiting)[number];
          if (comparePaths(own, path) >= 0) break;
          add(newLine);
        }
        add(replaced.has(path) ? undefined : `${line}\n`);
      }
      isHeader = false;
    }
    yield { text, znodes };
  }
  const rest = waiting.slice(next).flatMap(([, line]) => (line === undefined ? [] : [line]));
  yield { text: rest.join(""), znodes: rest.length };
}

function pathOf(line: string): string {
  return JSON.parse(PATH.exec(line)?.[1] ?? '""') as string;
}
