/** Cipher suites by the names that Java and the standards have for them → OpenSSL's names. */
import { getCiphers } from "node:tls";

const EXCHANGES: Readonly<Record<string, string>> = {
  RSA: "",
  ECDHE_RSA: "ECDHE-RSA-",
  ECDHE_ECDSA: "ECDHE-ECDSA-",
  DHE_RSA: "DHE-RSA-",
  DHE_DSS: "DHE-DSS-",
  DH_ANON: "ADH-",
  ECDH_ANON: "AECDH-",
};
/** Not a cipher suite: a flag, which OpenSSL always sends. */
const FLAG = /^TLS_(EMPTY_RENEGOTIATION_INFO|FALLBACK)_SCSV$/;

export interface CipherSuites {
  /** For the option `ciphers`; empty if none is known. */
  readonly ciphers: string;
  readonly unknown: readonly string[];
}

/** From a list with commas. What this OpenSSL lacks is unknown too. */
export function cipherSuites(list: string): CipherSuites {
  const available = new Set(getCiphers());
  const names = list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && !FLAG.test(name));
  const known = (name: string) => {
    const translated = opensslName(name);
    return translated !== undefined && available.has(translated.toLowerCase())
      ? translated
      : undefined;
  };
  return {
    ciphers: names.flatMap((name) => known(name) ?? []).join(":"),
    unknown: names.filter((name) => known(name) === undefined),
  };
}

/** Undefined for names that do not have the form of a cipher suite. */
export function opensslName(name: string): string | undefined {
  const upper = name.toUpperCase();
  const [, exchange, cipher = ""] = /^(?:TLS|SSL)_(\w+?)_WITH_(\w+)$/.exec(upper) ?? [];
  // The suites of TLS 1.3 have the same name everywhere.
  if (exchange === undefined) return /^TLS_(AES|CHACHA20)_/.test(upper) ? upper : undefined;
  const prefix = EXCHANGES[exchange];
  if (prefix === undefined) return undefined;
  const short = cipher
    .replace(/^(AES|CAMELLIA|ARIA)_(\d+)_/, "$1$2_")
    .replace(/^3DES_EDE_CBC_/, "DES_CBC3_")
    .replace(/^CHACHA20_POLY1305_SHA256$/, "CHACHA20_POLY1305")
    .replace(/_CCM_8$/, "_CCM8")
    .replace(/^(AES|CAMELLIA|ARIA)(\d+)_CBC_/, "$1$2_");
  return prefix + short.replaceAll("_", "-");
}
