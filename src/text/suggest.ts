/** Suggestions for an unknown word. */

/** A longer list of suggestions does not help. */
const MAX_SUGGESTIONS = 3;

/** The candidate that {@link suggestions} puts first. */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  return suggestions(word, candidates)[0];
}

/**
 * Returns the candidates that begin with `word`. If there are none, those with the smallest edit
 * distance, at most one wrong letter in three.
 */
function suggestions(word: string, candidates: Iterable<string>): readonly string[] {
  const wanted = word.toLowerCase();
  const letters = wanted.replace(/^-+/, "").length;
  const all = [...candidates];
  const longer = all.filter((candidate) => candidate.toLowerCase().startsWith(wanted));
  if (letters > 1 && longer.length > 0 && longer.length <= MAX_SUGGESTIONS)
    return longer.toSorted();
  let closest: string[] = [];
  let least = Math.min(3, Math.floor(letters / 3));
  for (const candidate of all) {
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance > least) continue;
    if (distance < least) closest = [];
    least = distance;
    closest.push(candidate);
  }
  return closest.toSorted().slice(0, MAX_SUGGESTIONS);
}

/** Returns `did you mean get?`, or undefined if no candidate is similar. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  const [first, ...others] = suggestions(word, candidates);
  if (first === undefined) return undefined;
  return others.length === 0
    ? `did you mean ${first}?`
    : `did you mean one of ${[first, ...others].join(", ")}?`;
}

/** The number of letters to add, remove, replace or swap with the next one. */
export function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? (beforePrevious[j - 2] ?? 0) + 1 : replaced;
      current.push(Math.min(replaced, swapped, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length] ?? 0;
}
