import { CURATOR_SORTS } from "../recipes/locks/queue/contender.ts";

/** Which sorts of tickets overlook each other, in a sentence. */
export function incompatibleTicketsText(path: string, sorts: readonly string[]): string {
  // Tickets of zksh have Curator's names.
  if (
    sorts.length === CURATOR_SORTS.length &&
    CURATOR_SORTS.every((sort) => sorts.includes(sort))
  ) {
    return `locks and read/write locks are both used on ${path}: zksh respects both, Curator does not`;
  }
  return `on ${path} there are ${sorts.join(" and ")}, which do not see each other`;
}
