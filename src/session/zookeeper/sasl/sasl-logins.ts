import type { PermissionError } from "../../../errors.ts";
import type { GssapiOptions, SaslOptions } from "../../options.ts";
import type { Endpoint } from "../connecting/link.ts";
import type { GssapiProcess } from "./gssapi/gssapi-process.ts";
import { SaslLogin } from "./sasl-login.ts";
import type { SaslMechanism } from "./sasl-mechanism.ts";

/** The logins of a session: one for each connection. */
export class SaslLogins {
  readonly #options: SaslOptions;
  /** Lives while a server is looked for: each search begins with fresh credentials. */
  #process: GssapiProcess | undefined;
  /** Says what a login that is being begun waits for. */
  #waiting: ((limitMs: number) => PermissionError) | undefined;

  constructor(options: SaslOptions) {
    this.#options = options;
  }

  /** Makes the first message. Throws PermissionError. */
  async begin(endpoint: Endpoint): Promise<SaslLogin> {
    const mechanism = await this.#mechanism(endpoint);
    try {
      return await SaslLogin.begin(mechanism, endpoint.address);
    } finally {
      this.#waiting = undefined;
    }
  }

  /** Why the first message is not there after `limitMs`; undefined where none is being made. */
  tooSlow(limitMs: number): PermissionError | undefined {
    return this.#waiting?.(limitMs);
  }

  /** The session is logged in, or over. */
  end(): void {
    this.#process?.end();
    this.#process = undefined;
  }

  // Loaded only for sessions that log in.
  async #mechanism(endpoint: Endpoint): Promise<SaslMechanism> {
    const options = this.#options;
    if (options.mechanism === "GSSAPI") return this.#gssapi(options, endpoint);
    const { DigestMd5Mechanism } = await import("./digest-md5-mechanism.ts");
    return new DigestMd5Mechanism(options);
  }

  async #gssapi(options: GssapiOptions, endpoint: Endpoint): Promise<SaslMechanism> {
    const [{ GssapiMechanism, targetOf }, { GssapiProcess }, { kdcTooSlow }] = await Promise.all([
      import("./gssapi/gssapi-mechanism.ts"),
      import("./gssapi/gssapi-process.ts"),
      import("./gssapi/gssapi-failures.ts"),
    ]);
    this.#process ??= new GssapiProcess();
    const target = targetOf(options, endpoint.host);
    this.#waiting = (limitMs) => kdcTooSlow(endpoint.address, target, limitMs);
    return new GssapiMechanism(this.#process, options, endpoint);
  }
}
