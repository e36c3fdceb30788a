import { PermissionError } from "../../../../errors.ts";
import type { GssapiCredentials, GssapiFailure } from "./messages.ts";

/** Routine errors of GSSAPI (RFC 2744). */
const NO_CREDENTIALS = 7;
const CREDENTIALS_EXPIRED = 11;

/** Errors of Kerberos (RFC 4120), and MIT's own, count from here. */
const KERBEROS = 2_529_638_912;
const CODE = {
  clientUnknown: KERBEROS + 6,
  serverUnknown: KERBEROS + 7,
  preauthFailed: KERBEROS + 24,
  badIntegrity: KERBEROS + 31,
  ticketExpired: KERBEROS + 32,
  clockSkew: KERBEROS + 37,
  realmUnknown: KERBEROS + 154,
  kdcUnreachable: KERBEROS + 156,
  realmCannotResolve: KERBEROS + 220,
} as const;

const UNREACHABLE: readonly number[] = [
  CODE.realmUnknown,
  CODE.kdcUnreachable,
  CODE.realmCannotResolve,
];
const WRONG_KEY: readonly number[] = [CODE.preauthFailed, CODE.badIntegrity];

/** What a login was tried with. */
export interface Tried extends GssapiCredentials {
  /** As the connect string names it. */
  readonly server: string;
  /** `SERVICE@HOST`. */
  readonly target: string;
}

/** Says which of the situations it is, with the library's own words. */
export function gssapiFailure(failure: GssapiFailure, tried: Tried): PermissionError {
  if ("missing" in failure) return missing(failure);
  const [reason, why] = situation(failure, tried);
  return new PermissionError(
    reason,
    `cannot log in to ${tried.server} by Kerberos: ${why} (${failure.text})`,
  );
}

/** No KDC has answered in the time that there was. */
export function kdcTooSlow(server: string, target: string, limitMs: number): PermissionError {
  return new PermissionError(
    "sasl-kdc-unreachable",
    `cannot log in to ${server} by Kerberos: no ticket for ${target} within ${limitMs / 1000} s`,
  );
}

function missing({ missing, text }: Extract<GssapiFailure, { missing: string }>): PermissionError {
  const what = missing === "package" ? "the package koffi" : "the system's GSSAPI library";
  return new PermissionError(
    `sasl-${missing}-missing`,
    `a Kerberos login needs ${what}, which cannot be loaded (${text})`,
  );
}

function situation(
  { major, minor }: Extract<GssapiFailure, { major: number }>,
  { target, keytab, principal }: Tried,
): [reason: string, why: string] {
  if (UNREACHABLE.includes(minor)) return ["sasl-kdc-unreachable", "no KDC can be reached"];
  if (minor === CODE.serverUnknown)
    return ["sasl-unknown-service", `the KDC does not know the server ${target}`];
  if (major === CREDENTIALS_EXPIRED || minor === CODE.ticketExpired)
    return ["sasl-ticket-expired", "the ticket has expired"];
  if (minor === CODE.clockSkew)
    return ["sasl-failed", "the clocks of this machine and of the KDC differ too much"];
  if (minor === CODE.clientUnknown)
    return ["sasl-no-credentials", "the KDC does not know this client"];
  if (keytab !== undefined && WRONG_KEY.includes(minor))
    return ["sasl-no-credentials", `the KDC has another key than ${keytab}`];
  if (major !== NO_CREDENTIALS) return ["sasl-failed", "no ticket"];
  const whose = principal === undefined ? "" : ` of ${principal}`;
  if (keytab !== undefined)
    return ["sasl-no-credentials", `no login with a key${whose} in ${keytab}`];
  return ["sasl-no-credentials", `there are no tickets${whose}`];
}
