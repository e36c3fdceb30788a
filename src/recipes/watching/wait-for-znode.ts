/**
 * Waits until a znode meets a condition. Makes nothing.
 *
 * Each look reads the znode with a one-shot watch and compares; the next look comes when the watch
 * fires. No state is missed for good, because the watch is set by the very read that is compared.
 * The session sets the watch again after a reconnect, and a lost session is replaced. A state that
 * lasts for less time than a look takes may not be seen. Leaving takes the watch off.
 */

import { AutoResetEvent } from "../../async/auto-reset-event.ts";
import { NoNodeError } from "../../errors.ts";
import type { ReadOptions, Session, WatchEvent } from "../../session/session.ts";
import { type Follower, type FollowOptions, followForever } from "./watched-changes.ts";

export type Condition =
  | { readonly kind: "exists" | "gone" }
  | { readonly kind: "value"; readonly text: string }
  | { readonly kind: "children"; readonly count: number };

/** Resolves when the condition is met; rejects with the signal's reason. */
export async function waitForZnode(
  path: string,
  condition: Condition,
  options: FollowOptions,
): Promise<void> {
  for await (const { event } of followForever(new ConditionFollower(path, condition), options))
    if (event === "met") return;
}

interface Look {
  readonly event: "met" | "unmet";
}

class ConditionFollower implements Follower<Look> {
  readonly path: string;
  readonly #condition: Condition;

  constructor(path: string, condition: Condition) {
    this.path = path;
    this.#condition = condition;
  }

  async *follow(session: Session, signal: AbortSignal): AsyncGenerator<Look> {
    const fired = new AutoResetEvent();
    let isLost = false;
    const watch = ({ type }: WatchEvent) => {
      isLost ||= type === "lost";
      fired.set();
    };
    try {
      while (!isLost) {
        const isMet = await this.#isMet(session, { signal, watch });
        yield { event: isMet ? "met" : "unmet" };
        await fired.wait(signal);
      }
    } finally {
      // Not awaited: leaving must not take longer because a server is slow.
      if (!isLost) session.removeWatch(this.path, watch).catch(() => {});
    }
  }

  /** Sets a watch in any case. */
  async #isMet(session: Session, options: ReadOptions): Promise<boolean> {
    const { kind } = this.#condition;
    for (;;) {
      if (kind !== "exists" && kind !== "gone") {
        try {
          return await this.#hasContents(session, options);
        } catch (error) {
          if (!(error instanceof NoNodeError)) throw error;
        }
      }
      // A read of a missing znode sets no watch; exists does.
      const isThere = (await session.exists(this.path, options)) !== undefined;
      if (kind === "exists" || kind === "gone") return isThere === (kind === "exists");
      if (!isThere) return false;
    }
  }

  async #hasContents(session: Session, options: ReadOptions): Promise<boolean> {
    const condition = this.#condition;
    if (condition.kind === "value") {
      const { data } = await session.getData(this.path, options);
      return Buffer.from(condition.text).equals(data ?? Buffer.alloc(0));
    }
    const children = await session.getChildren(this.path, options);
    return condition.kind === "children" && children.length === condition.count;
  }
}
