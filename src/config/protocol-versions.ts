/** Versions of TLS by Java's names → the range that Node.js takes. */
import { UsageError } from "../errors.ts";
import type { TlsOptions, TlsVersion } from "../session/options.ts";
import { type PlacedProperty, placeOf } from "./java-properties.ts";

const VERSIONS: readonly TlsVersion[] = ["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"];

export interface ProtocolVersions {
  readonly range: Pick<TlsOptions, "minVersion" | "maxVersion">;
  readonly unknown: readonly { readonly where: string; readonly what: string }[];
}

/**
 * From the list of versions that may be used, or else the one that Java would use alone. Throws
 * UsageError if none is known, and for a list with gaps, which Node.js has no option for.
 */
export function protocolVersions(
  enabled: PlacedProperty | undefined,
  protocol: PlacedProperty | undefined,
): ProtocolVersions {
  const property = enabled ?? protocol;
  // TLS and SSL alone leave the version open.
  if (
    property === undefined ||
    (enabled === undefined && /^\s*(TLS|SSL)\s*$/i.test(property.value))
  )
    return { range: {}, unknown: [] };
  const { where, value } = property;
  const names = value
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const find = (name: string) =>
    VERSIONS.findIndex((version) => version.toLowerCase() === name.toLowerCase());
  const known = names.map(find).filter((index) => index >= 0);
  const [first, last] = [Math.min(...known), Math.max(...known)];
  const [minVersion, maxVersion] = [VERSIONS[first], VERSIONS[last]];
  if (minVersion === undefined || maxVersion === undefined)
    throw new UsageError(`${placeOf(property)} has no version of TLS: '${value}'`, {
      hint: `use ${VERSIONS.slice(2).join(",")}`,
    });
  const missing = VERSIONS.slice(first, last + 1).find((_, at) => !known.includes(first + at));
  if (missing !== undefined)
    throw new UsageError(`${placeOf(property)} leaves out ${missing} between two others`, {
      hint: `list ${missing} too, or only the versions above it`,
    });
  return {
    range: { minVersion, maxVersion },
    unknown: names.filter((name) => find(name) < 0).map((what) => ({ where, what })),
  };
}
