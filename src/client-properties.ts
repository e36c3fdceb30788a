import { UsageError } from "./errors.ts";
import type { TlsOptions } from "./session/options.ts";

const PREFIX = "zookeeper.ssl.";

/**
 * The TLS settings of the properties file that zkCli takes as `-client-configuration`; undefined unless it turns TLS on.
 * Only PEM stores can be used. Throws UsageError for the others.
 */
export async function tlsFromProperties(
  text: string,
  read: (option: string, path: string) => Promise<Buffer>,
): Promise<TlsOptions | undefined> {
  const properties = parseProperties(text);
  if (properties.get("zookeeper.client.secure") !== "true") return undefined;
  const store = async (name: "keyStore" | "trustStore") => {
    const path = properties.get(`${PREFIX}${name}.location`);
    if (path === undefined) return undefined;
    if (!isPem(path, properties.get(`${PREFIX}${name}.type`))) throw notPem(name, path);
    return read(`${PREFIX}${name}.location`, path);
  };
  const ca = await store("trustStore");
  // A PEM key store holds both, the certificate and its key.
  const own = await store("keyStore");
  return { ...(ca && { ca }), ...(own && { cert: own, key: own }) };
}

function parseProperties(text: string): Map<string, string> {
  const lines = text.split(/\r?\n/).map((line) => line.trimStart());
  const pairs = lines.flatMap((line) => {
    const match = /^([^#!=:\s][^=:\s]*)\s*[=:\s]\s*(.*)$/.exec(line);
    return match ? [[match[1] ?? "", (match[2] ?? "").trimEnd()] as const] : [];
  });
  return new Map(pairs);
}

function isPem(path: string, type: string | undefined): boolean {
  return type === undefined ? path.endsWith(".pem") : type.toUpperCase() === "PEM";
}

function notPem(name: string, path: string): UsageError {
  return new UsageError(`the ${name} ${path} is not PEM`, {
    hint: "convert it to PEM, or use --tls-ca, --tls-cert and --tls-key",
  });
}
