/** Who logs in by SASL, as a profile or the rest of the settings file says it. */
import { UsageError } from "../errors.ts";
import { type GlobalName, type GlobalOption, globalOptions } from "./global-options.ts";
import { type SaslSetting, saslSetting } from "./sasl-settings.ts";
import type { StoredLayer } from "./stored-settings.ts";

/**
 * Each layer is read as if it were the environment, and the first that says anything wins. Throws
 * UsageError that names the keys of the file.
 */
export function storedSasl(layers: readonly StoredLayer[]): SaslSetting | undefined {
  for (const layer of layers) {
    const found = saslOf(layer);
    if (found) return found;
  }
  return undefined;
}

function saslOf(layer: StoredLayer): SaslSetting | undefined {
  const options: readonly GlobalOption[] = globalOptions;
  const stored = options.flatMap(({ name, env }) => {
    const found = layer.values.get(name as GlobalName);
    return found && env !== undefined ? [{ env, ...found }] : [];
  });
  try {
    return saslSetting({}, Object.fromEntries(stored.map(({ env, value }) => [env, value])));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const keys = new Map(stored.map(({ env, key }) => [env, `${key} of ${layer.name}`]));
    const message = error.message.replace(/ZKSH_\w+/g, (name) => keys.get(name) ?? name);
    throw new UsageError(message, {
      cause: error,
      ...(error.hint !== undefined && { hint: error.hint }),
    });
  }
}
