/** Numbers in the answers of servers. Answers are not trusted: all other texts give undefined. */

/** A number that is not negative, such as `12` or `0.3333`. */
export function figure(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,19}(?:\.\d{1,20})?$/.test(text)) return undefined;
  return Number(text);
}

/** As {@link figure}, where some servers write -1 for what they do not know. */
export function signedFigure(text: string | undefined): number | undefined {
  return text?.startsWith("-") ? negative(figure(text.slice(1))) : figure(text);
}

function negative(number: number | undefined): number | undefined {
  return number === undefined ? undefined : -number;
}

/** A session id as `Session.id` has it: ids of servers from 128 on are negative as numbers. */
export function sessionIdOf(text: string | undefined): bigint | undefined {
  return text !== undefined && /^0x[0-9a-f]{1,16}$/i.test(text)
    ? BigInt.asIntN(64, BigInt(text))
    : undefined;
}

/** ZooKeeper writes a zxid in hexadecimal; some releases of ClickHouse Keeper in decimal. */
export function zxidOf(text: string | undefined): bigint | undefined {
  return text !== undefined && /^(?:0x[0-9a-f]{1,16}|\d{1,19})$/i.test(text)
    ? BigInt(text)
    : undefined;
}

/** `3.8.0` of `3.8.0-${mvngit.commit.id}, built on 2024-12-29 17:54 UTC` and of `v23.3.1.2`. */
export function releaseOf(version: string | undefined): string | undefined {
  return /^v?(\d{1,9}\.\d{1,9}(?:\.\d{1,9}){0,2})/.exec(version ?? "")?.[1];
}
