import type { CreateOptions, Session } from "../../session/session.ts";

/** What ended with a session. */
export interface LostResources {
  readonly ephemerals: readonly string[];
  readonly watches: readonly string[];
}

/**
 * Records the ephemeral znodes and watches of a session, so that their loss is reported by name.
 */
export class SessionResources {
  readonly #ephemerals = new Set<string>();
  readonly #watches = new Set<string>();

  /** Wraps a session so that its ephemeral znodes are recorded. */
  track(session: Session): Session {
    const noting = this.#noting(session);
    return new Proxy(session, {
      get(target, key) {
        if (Object.hasOwn(noting, key)) return Reflect.get(noting, key);
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  noteLostWatch(path: string): void {
    this.#watches.add(path);
  }

  /** Returns the recorded resources and forgets them. */
  close(): LostResources {
    const losses = { ephemerals: [...this.#ephemerals], watches: [...this.#watches] };
    this.#ephemerals.clear();
    this.#watches.clear();
    return losses;
  }

  #noting(session: Session): Pick<Session, "create" | "create2" | "delete" | "multi"> {
    return {
      create: async (path, data, options) => {
        const created = await session.create(path, data, options);
        this.#noteCreated(created, options?.mode);
        return created;
      },
      create2: async (path, data, options) => {
        const created = await session.create2(path, data, options);
        this.#noteCreated(created.path, options?.mode);
        return created;
      },
      delete: async (path, options) => {
        await session.delete(path, options);
        this.#ephemerals.delete(path);
      },
      multi: async (ops, options) => {
        const done = await session.multi(ops, options);
        for (const [index, op] of ops.entries()) {
          const result = done.results[index];
          if (op.op === "create" && result?.op === "create")
            this.#noteCreated(result.path, op.mode);
          else if (op.op === "delete") this.#ephemerals.delete(op.path);
        }
        return done;
      },
    };
  }

  #noteCreated(path: string, mode: CreateOptions["mode"]): void {
    if (mode === "ephemeral" || mode === "ephemeralSequential") this.#ephemerals.add(path);
  }
}
