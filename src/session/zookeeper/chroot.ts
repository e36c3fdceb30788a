/**
 * The znode a session is confined to: added to every path that leaves, taken off every path that
 * arrives.
 */
export class Chroot {
  readonly #prefix: string;

  constructor(prefix = "") {
    this.#prefix = prefix;
  }

  toServerPath(path: string): string {
    return this.#prefix !== "" && path === "/" ? this.#prefix : this.#prefix + path;
  }

  /** A path outside the chroot (the ensemble's configuration has one) stays as it is. */
  toClientPath(path: string): string {
    if (this.#prefix === "") return path;
    if (path === this.#prefix) return "/";
    return path.startsWith(`${this.#prefix}/`) ? path.slice(this.#prefix.length) : path;
  }
}
