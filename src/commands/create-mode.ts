/** The flags of `create` that say what kind of znode it makes, and how they combine. */
import { UsageError } from "../errors.ts";
import type { Acl, CreateMode } from "../session/session.ts";

export interface ModeFlags {
  readonly sequential: boolean;
  readonly ephemeral: boolean;
  readonly container: boolean;
  readonly ttl: number | undefined;
}

export function howToCreate(flags: ModeFlags, acl: readonly Acl[] | undefined) {
  return {
    mode: createMode(flags),
    ...(acl && { acl }),
    ...(flags.ttl !== undefined && { ttlMs: flags.ttl }),
  };
}

function createMode({ sequential, ephemeral, container, ttl }: ModeFlags): CreateMode {
  if (container && (sequential || ephemeral)) {
    throw new UsageError(
      "-c cannot be combined with -s or -e. Containers cannot be ephemeral or sequential.",
    );
  }
  if (ttl !== undefined && ephemeral)
    throw new UsageError("TTLs cannot be used with Ephemeral znodes");
  if (ttl !== undefined && container)
    throw new UsageError("TTLs cannot be used with Container znodes");
  if (container) return "container";
  if (ttl !== undefined) return sequential ? "persistentSequentialWithTtl" : "persistentWithTtl";
  if (ephemeral) return sequential ? "ephemeralSequential" : "ephemeral";
  return sequential ? "persistentSequential" : "persistent";
}
