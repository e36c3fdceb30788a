/** Warnings about a session that is opened in a risky way. Each is shown once. */

import type { ResultOf } from "../results/result.ts";
import { formatAddress, isLoopback, isSocket } from "../session/connect-string.ts";
import type { SessionOptions } from "../session/options.ts";

export type Warning = ResultOf<"warning">;

/** Schemes whose credentials are no secret. */
const WITHOUT_SECRET: readonly string[] = ["ip", "world", "x509"];

/** What is risky about the options of a session that is about to be opened. */
export function sessionWarnings(options: SessionOptions): Warning[] {
  const { servers, tls, auth = [], keeperPassword } = options;
  const warnings: Warning[] = [];
  if (tls?.insecure) {
    const message =
      "--tls-insecure accepts every certificate, also that of an attacker; use --tls-ca FILE " +
      "instead";
    warnings.push({ kind: "warning", reason: "insecure-tls", message });
  }
  if (tls?.anyServerName && !tls.insecure) {
    const message =
      "the name in the server's certificate is not checked: any server with a certificate of the " +
      "same authority is taken for the right one";
    warnings.push({ kind: "warning", reason: "any-server-name", message });
  }
  const secret = auth.find(({ scheme }) => !WITHOUT_SECRET.includes(scheme));
  const remote = servers.find((server) => !isSocket(server) && !isLoopback(server));
  const what = secret ? `${secret.scheme} credential` : keeperPassword && "Keeper password";
  if (what && remote && !tls) {
    const message = `the ${what} is sent to ${formatAddress(remote)} without TLS: others on the network can read it`;
    warnings.push({ kind: "warning", reason: "plain-credential", message });
  }
  return warnings;
}

/** Others can read a file that holds a secret; `option` names it. */
export function openFileWarning(option: string, path: string): Warning {
  const message = `other users can read ${path} (${option}): run chmod 600 ${path}`;
  return { kind: "warning", reason: "open-file", message };
}

/** Other users can `read` the secrets in the settings file, or `change` it. */
export function openSettingsWarning(path: string, what: "read" | "change"): Warning {
  const message = `other users can ${what} the settings file ${path}: run chmod 600 ${path}`;
  return { kind: "warning", reason: "open-file", message };
}

/** Other users see the arguments of all processes. */
export function visiblePasswordWarning(option: string, instead: string): Warning {
  const message = `other users can see the password in ${option} in the list of processes; use ${instead} instead`;
  return { kind: "warning", reason: "visible-password", message };
}

/** What is wrong with the client certificate in `file`: the servers will refuse it. */
export function certificateWarnings(
  file: string,
  { certificate, others = [], alias }: OwnCertificate,
): Warning[] {
  const { validFrom, validTo, subject } = certificate;
  const warnings: Warning[] = [];
  const dates = `the client certificate in ${file} (${subject.replaceAll("\n", ", ")})`;
  if (Date.parse(validTo) < Date.now()) {
    const message = `${dates} expired on ${day(validTo)}`;
    warnings.push({ kind: "warning", reason: "expired-certificate", message });
  }
  if (Date.parse(validFrom) > Date.now()) {
    const message = `${dates} is valid from ${day(validFrom)} on only`;
    warnings.push({ kind: "warning", reason: "expired-certificate", message });
  }
  if (others.length > 0) {
    const message = `${file} has several keys: '${alias}' is used, not ${others.join(", ")}`;
    warnings.push({ kind: "warning", reason: "several-keys", message });
  }
  return warnings;
}

interface OwnCertificate {
  readonly certificate: {
    readonly validFrom: string;
    readonly validTo: string;
    readonly subject: string;
  };
  /** In a key store: the name of its key, and those of other keys. */
  readonly alias?: string;
  readonly others?: readonly string[];
}

const day = (date: string) => new Date(date).toISOString().slice(0, "2026-01-31".length);

/** Tells each warning once. */
export class Warnings {
  readonly #told = new Set<string>();
  #show: (warning: Warning) => Promise<void>;

  constructor(show: (warning: Warning) => Promise<void>) {
    this.#show = show;
  }

  /**
   * From now on warnings are shown by `show`: the shell's go above the line that is being typed.
   */
  showWith(show: (warning: Warning) => Promise<void>): void {
    this.#show = show;
  }

  async tell(warnings: readonly Warning[]): Promise<void> {
    for (const warning of warnings) {
      const key = `${warning.reason} ${warning.message}`;
      if (this.#told.has(key)) continue;
      this.#told.add(key);
      await this.#show(warning);
    }
  }
}
