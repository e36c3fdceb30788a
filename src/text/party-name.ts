/**
 * The names of contenders in progress, tables, reports and errors. They are not escaped here,
 * because the line or message with the name is escaped as a whole.
 */
import type { Party } from "../recipes/locks/holder-record.ts";
import { hexId } from "./hex-id.ts";

/** Returns `ann@web3`, or the other facts of the ticket; undefined if the ticket has none. */
export function whoIs({ who, host, note }: Party): string | undefined {
  if (who !== undefined) return who.includes("@") || host === undefined ? who : `${who}@${host}`;
  return host ?? note;
}

/** Returns `ann@web3`, or the session if nothing else is known. */
export function shortName(party: Party): string {
  return whoIs(party) ?? sessionName(party);
}

/**
 * Returns `ann@web3 pid 4711 deploy.sh`, `10.0.0.7 (Curator)` or `a kazoo client in session 0x1`.
 */
export function nameParty(party: Party): string {
  const { who, pid, cmd, client } = party;
  const name = whoIs(party);
  if (name === undefined)
    return client === "unknown"
      ? sessionName(party)
      : `a ${client} client in ${sessionName(party)}`;
  if (pid !== undefined) return `${name} pid ${pid}${cmd === undefined ? "" : ` ${cmd}`}`;
  return who !== undefined || client === "unknown" ? name : `${name} (${client})`;
}

/** Adds the reason: `ann@web3 pid 4711 deploy.sh "release 42"`. */
export function nameWithReason(party: Party): string {
  return nameParty(party) + (party.why === undefined ? "" : ` "${party.why}"`);
}

/** Names each of `parties`, with its process if two have the same name. */
export function namesOf(parties: readonly Party[]): (party: Party) => string {
  const count = new Map<string, number>();
  for (const name of parties.map(shortName)) count.set(name, (count.get(name) ?? 0) + 1);
  return (party) => {
    const name = shortName(party);
    return (count.get(name) ?? 0) > 1 && party.pid !== undefined
      ? `${name} pid ${party.pid}`
      : name;
  };
}

function sessionName({ session }: Party): string {
  return `session ${hexId(session)}`;
}
