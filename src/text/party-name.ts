/**
 * How people call a contender for a lock: one way for progress, tables, reports and errors. Not
 * escaped, because the line or message that a name is part of is escaped as a whole.
 */
import type { Party } from "../recipes/locks/holder-record.ts";
import { hexId } from "./hex-id.ts";

/** `ann@web3`, or what else its ticket says; undefined when the ticket says nothing. */
export function whoIs({ who, host, note }: Party): string | undefined {
  if (who !== undefined) return who.includes("@") || host === undefined ? who : `${who}@${host}`;
  return host ?? note;
}

/** `ann@web3`, or its session where nothing else is known. */
export function shortName(party: Party): string {
  return whoIs(party) ?? sessionName(party);
}

/** `ann@web3 pid 4711 deploy.sh`, `10.0.0.7 (Curator)`, `a kazoo client in session 0x1`. */
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

/** With what it holds the lock for: `ann@web3 pid 4711 deploy.sh "release 42"`. */
export function nameWithReason(party: Party): string {
  return nameParty(party) + (party.why === undefined ? "" : ` "${party.why}"`);
}

/** How each of `parties` is called: with its process where two have the same name. */
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
