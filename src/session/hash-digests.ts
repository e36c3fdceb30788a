import { createHash } from "node:crypto";
import { UsageError } from "../errors.ts";
import type { Acl } from "./session.ts";

/**
 * Turns every `digest:USER:PASSWORD` into what servers compare with: the password's hash in its
 * place.
 */
export function hashDigests(acl: readonly Acl[]): Acl[] {
  return acl.map((entry) => {
    if (entry.scheme !== "digest") return entry;
    const colon = entry.id.indexOf(":");
    if (colon <= 0) {
      throw new UsageError("the id of a digest to hash must be USER:PASSWORD", {
        hint: "use for example digest:USER:PASSWORD:cdrwa",
      });
    }
    return { ...entry, id: digestId(Buffer.from(entry.id)) };
  });
}

/** `USER:PASSWORD` as the id of an ACL entry: `USER:HASH`. */
export function digestId(credential: Buffer): string {
  const user = credential.toString().split(":", 1)[0] ?? "";
  return `${user}:${createHash("sha1").update(credential).digest("base64")}`;
}
