/** Which lines two texts share, as unified diffs show it. */

interface DiffLine {
  readonly sign: " " | "-" | "+";
  readonly text: string;
}

export interface Hunk {
  /** The first line of each side, from 1 on. */
  readonly left: number;
  readonly right: number;
  readonly lines: readonly DiffLine[];
}

const CONTEXT = 3;
/** Beyond so many pairs of lines a changed stretch is shown whole: comparing would take too long. */
const MAX_PAIRS = 4_000_000;

/** The changed stretches with three lines around them; none where the texts are equal. */
export function diffHunks(left: readonly string[], right: readonly string[]): Hunk[] {
  return hunksOf(diffLines(left, right));
}

function diffLines(left: readonly string[], right: readonly string[]): DiffLine[] {
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
  let end = 0;
  while (
    end < left.length - start &&
    end < right.length - start &&
    left[left.length - 1 - end] === right[right.length - 1 - end]
  )
    end += 1;
  const same = (text: string): DiffLine => ({ sign: " ", text });
  return [
    ...left.slice(0, start).map(same),
    ...changedLines(left.slice(start, left.length - end), right.slice(start, right.length - end)),
    ...left.slice(left.length - end).map(same),
  ];
}

/** By the longest common subsequence. */
function changedLines(left: readonly string[], right: readonly string[]): DiffLine[] {
  const removed = left.map((text): DiffLine => ({ sign: "-", text }));
  const added = right.map((text): DiffLine => ({ sign: "+", text }));
  if (left.length === 0 || right.length === 0 || left.length * right.length > MAX_PAIRS)
    return [...removed, ...added];
  const width = right.length + 1;
  // common[i * width + j]: how many lines left from i on and right from j on have in common.
  const common = new Uint32Array((left.length + 1) * width);
  const at = (i: number, j: number) => common[i * width + j] as number;
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      common[i * width + j] =
        left[i] === right[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < left.length && j < right.length) {
    if (left[i] === right[j]) {
      lines.push({ sign: " ", text: left[i] as string });
      i += 1;
      j += 1;
    } else if (at(i + 1, j) >= at(i, j + 1)) lines.push(removed[i++] as DiffLine);
    else lines.push(added[j++] as DiffLine);
  }
  return [...lines, ...removed.slice(i), ...added.slice(j)];
}

function hunksOf(lines: readonly DiffLine[]): Hunk[] {
  const hunks: Hunk[] = [];
  let left = 1;
  let right = 1;
  let open: { left: number; right: number; lines: DiffLine[] } | undefined;
  let sinceChange = 0;
  for (const [index, line] of lines.entries()) {
    if (line.sign !== " ") {
      if (!open) {
        const before = lines.slice(Math.max(0, index - CONTEXT), index);
        open = { left: left - before.length, right: right - before.length, lines: [...before] };
      }
      open.lines.push(line);
      sinceChange = 0;
    } else if (open) {
      open.lines.push(line);
      sinceChange += 1;
      // Two changes that are close together share a hunk.
      if (sinceChange === CONTEXT * 2) {
        hunks.push({ ...open, lines: open.lines.slice(0, -CONTEXT) });
        open = undefined;
      }
    }
    if (line.sign !== "+") left += 1;
    if (line.sign !== "-") right += 1;
  }
  if (open)
    hunks.push({
      ...open,
      lines: open.lines.slice(0, open.lines.length - Math.max(0, sinceChange - CONTEXT)),
    });
  return hunks;
}
