import { formatPerms } from "../session/acl.ts";
import type { Acl } from "../session/session.ts";

const ESCAPED: Readonly<Record<string, string>> = {
  ",": "%2C",
  "}": "%7D",
  "%": "%25",
  "\0": "%00",
  "\n": "%0A",
  "\r": "%0D",
};

/** Two lines an entry: zkCli prints Java's text of the identity, which ends a line of its own. */
export function zkcliAcl(acl: readonly Acl[]): string {
  return acl
    .map(({ scheme, id, perms }) => `'${jute(scheme)},'${jute(id)}\n: ${formatPerms(perms)}\n`)
    .join("");
}

function jute(text: string): string {
  return text.replace(/[,}%\0\n\r]/g, (character) => ESCAPED[character] ?? character);
}
