import { UsageError } from "../errors.ts";
import { type Acl, Permission } from "./session.ts";

const LETTERS: Readonly<Record<string, number>> = {
  c: Permission.create,
  d: Permission.delete,
  r: Permission.read,
  w: Permission.write,
  a: Permission.admin,
};

/**
 * Reads `scheme:id:perms,…`; ids may hold colons. Throws UsageError where zkCli would skip an entry or a letter,
 * because an access list that is silently weaker than the one written is worse than none.
 */
export function parseAcl(text: string): Acl[] {
  return text.split(",").map(parseEntry);
}

function parseEntry(entry: string): Acl {
  const first = entry.indexOf(":");
  const last = entry.lastIndexOf(":");
  if (first <= 0 || last === first) {
    throw new UsageError(`${entry} does not have the form scheme:id:perm`, {
      hint: "for example world:anyone:r or digest:USER:HASH:cdrwa",
    });
  }
  return { scheme: entry.slice(0, first), id: entry.slice(first + 1, last), perms: parsePerms(entry.slice(last + 1)) };
}

function parsePerms(letters: string): number {
  if (letters === "") throw new UsageError("no permissions in ACL", { hint: "letters: c d r w a" });
  let perms = 0;
  for (const letter of letters) {
    const bit = LETTERS[letter];
    if (bit === undefined) throw new UsageError(`Unknown perm type: ${letter}`, { hint: "letters: c d r w a" });
    perms |= bit;
  }
  return perms;
}
