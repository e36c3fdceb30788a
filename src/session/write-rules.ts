/** What the settings forbid to write: everything, or the znodes that globs protect. */
import { RefusedError } from "../errors.ts";
import { PathGlob } from "../text/path-glob.ts";
import type { Session } from "./session.ts";

export interface WriteLimits {
  /** Nothing may be written. */
  readonly readOnly?: {
    /** `--read-only`, or `profile prod`. */
    readonly by: string;
    /** The user has asked for it: --write does not lift it. */
    readonly isOwnWish: boolean;
  };
  readonly protect?: { readonly by: string; readonly globs: readonly string[] };
  /** Questions before destructive commands are answered with the path. */
  readonly wantsPathTyped?: boolean;
}

/** The calls that change znodes. */
type WritingCalls = Pick<
  Session,
  "create" | "create2" | "delete" | "setData" | "setAcl" | "multi" | "reconfig"
>;

export class WriteRules {
  readonly #limits: WriteLimits;
  readonly #globs: readonly { readonly text: string; readonly glob: PathGlob }[];

  constructor(limits: WriteLimits = {}) {
    this.#limits = limits;
    const { globs = [] } = limits.protect ?? {};
    this.#globs = globs.map((text) => ({ text, glob: new PathGlob(text) }));
  }

  /** Who or what forbids all writes; undefined where they are allowed. */
  get readOnly(): string | undefined {
    return this.#limits.readOnly?.by;
  }

  get protectedGlobs(): readonly string[] {
    return this.#globs.map(({ text }) => text);
  }

  get wantsPathTyped(): boolean {
    return this.#limits.wantsPathTyped ?? false;
  }

  /** The same after --write, which answers no question. */
  allowed(): WriteRules {
    const { readOnly } = this.#limits;
    const { wantsPathTyped } = this;
    return new WriteRules({ wantsPathTyped, ...(readOnly?.isOwnWish && { readOnly }) });
  }

  /** Throws RefusedError where nothing may be written. */
  refuseWrites(command: string): void {
    const { readOnly } = this.#limits;
    if (readOnly === undefined) return;
    const { by, isOwnWish } = readOnly;
    const why = isOwnWish ? "the session is read-only" : `${by} is read-only`;
    throw new RefusedError("read-only", `${command} is refused: ${why}`, {
      hint: isOwnWish ? "leave out --read-only (-r) to allow writes" : "--write allows it",
    });
  }

  /** Throws RefusedError for a protected znode, and for one below it. */
  refusePath(command: string, path: string): void {
    const found = this.#globs.find(({ glob }) => glob.covers(path));
    if (found) throw this.#refused(command, path, found.text);
  }

  /** The same for a whole tree: nothing at or below `path` may be protected. */
  refuseTree(command: string, path: string): void {
    const found = this.#globs.find(({ glob }) => glob.covers(path) || glob.mayMatchBelow(path));
    if (found) throw this.#refused(command, path, found.text);
  }

  /** The session as a command may use it: every write is checked before it is sent. */
  guard(session: Session, command: string): Session {
    if (this.readOnly === undefined && this.#globs.length === 0) return session;
    const checked = this.#checked(session, command);
    return new Proxy(session, {
      get(target, key) {
        if (Object.hasOwn(checked, key)) return Reflect.get(checked, key);
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  #checked(session: Session, command: string): WritingCalls {
    const check = (...paths: readonly string[]) => {
      this.refuseWrites(command);
      for (const path of paths) this.refusePath(command, path);
    };
    return {
      create: async (path, ...rest) => {
        check(path);
        return session.create(path, ...rest);
      },
      create2: async (path, ...rest) => {
        check(path);
        return session.create2(path, ...rest);
      },
      delete: async (path, ...rest) => {
        check(path);
        return session.delete(path, ...rest);
      },
      setData: async (path, ...rest) => {
        check(path);
        return session.setData(path, ...rest);
      },
      setAcl: async (path, ...rest) => {
        check(path);
        return session.setAcl(path, ...rest);
      },
      multi: async (ops, options) => {
        check(...ops.filter(({ op }) => op !== "check").map(({ path }) => path));
        return session.multi(ops, options);
      },
      reconfig: async (change) => {
        check();
        return session.reconfig(change);
      },
    };
  }

  #refused(command: string, path: string, glob: string): RefusedError {
    const { by = "" } = this.#limits.protect ?? {};
    return new RefusedError(
      "protected-path",
      `${command} refuses ${path}: ${by} protects ${glob}`,
      {
        path,
        hint: "--write allows it",
      },
    );
  }
}
