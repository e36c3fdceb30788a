import { globMatcher } from "./glob.ts";

/**
 * A glob for whole paths: `*` and the like stand for characters of one name, `**` for any number of
 * names. It covers what it matches and everything below that.
 */
export class PathGlob {
  /** Undefined stands for `**`. */
  readonly #names: readonly (((name: string) => boolean) | undefined)[];

  constructor(glob: string) {
    this.#names = namesOf(glob).map((name) => (name === "**" ? undefined : globMatcher(name)));
  }

  /** True if the glob matches the path, or one above it. */
  covers(path: string): boolean {
    const names = namesOf(path);
    return Array.from({ length: names.length + 1 }, (_, used) => names.slice(0, used)).some(
      (above) => this.#positions(above).includes(this.#names.length),
    );
  }

  /** True if the glob may match a znode below the path. */
  mayMatchBelow(path: string): boolean {
    return this.#positions(namesOf(path)).some((state) => state < this.#names.length);
  }

  /** How much of the glob can have been used up by these names. */
  #positions(names: readonly string[]): readonly number[] {
    let states = this.#withEmptyStars([0]);
    for (const name of names) {
      const next = states.flatMap((state) => {
        const matches = this.#names[state];
        if (state >= this.#names.length) return [];
        if (matches === undefined) return [state, state + 1];
        return matches(name) ? [state + 1] : [];
      });
      states = this.#withEmptyStars(next);
    }
    return states;
  }

  /** `**` also stands for no name, except at the end, where there is always one. */
  #withEmptyStars(states: readonly number[]): readonly number[] {
    const all = new Set(states);
    for (const state of all) {
      const isStars = state < this.#names.length && this.#names[state] === undefined;
      if (isStars && state + 1 < this.#names.length) all.add(state + 1);
    }
    return [...all];
  }
}

function namesOf(path: string): string[] {
  return path.split("/").filter((name) => name !== "");
}
