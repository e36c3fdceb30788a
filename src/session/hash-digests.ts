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
    const hash = createHash("sha1").update(entry.id).digest("base64");
    return { ...entry, id: `${entry.id.slice(0, colon)}:${hash}` };
  });
}
