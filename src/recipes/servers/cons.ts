/** The answer to `cons`: a line for each connection of a server. */
import { figure, sessionIdOf } from "./figures.ts";

export interface ClientConnection {
  /** `10.0.0.7:51472` */
  readonly address: string;
  /** Left out for a connection without a session, such as the one that asked. */
  readonly session?: bigint;
  /** The session timeout in milliseconds. */
  readonly timeoutMs?: number;
  /** Requests of this client that wait at the server. */
  readonly queued?: number;
  readonly received?: number;
  readonly sent?: number;
  /** The name of its last request: `GETD`, `PING`. */
  readonly lastOperation?: string;
  /** Milliseconds since the epoch. */
  readonly establishedAt?: number;
}

/** More connections than one server can have open. */
const MAX_LINES = 100_000;
/** ClickHouse Keeper's id of a connection that has no session. */
const NO_SESSION = -1n;

/** Lines that are no connection are left out. */
export function parseCons(answer: string): ClientConnection[] {
  return answer.split(/\r?\n/, MAX_LINES).flatMap((line) => {
    const [, name, values] = /^ ?(\S{1,300}?)(?:\[\d{1,9}\])?\(([^()]{1,1000})\)$/.exec(line) ?? [];
    return name === undefined || values === undefined ? [] : [connection(name, values)];
  });
}

function connection(name: string, values: string): ClientConnection {
  const fields = new Map(
    values.split(",").map((field) => {
      const [key = "", value = ""] = field.split("=", 2);
      return [key, value] as const;
    }),
  );
  const session = sessionIdOf(fields.get("sid"));
  const timeoutMs = figure(fields.get("to"));
  const queued = figure(fields.get("queued"));
  const received = figure(fields.get("recved"));
  const sent = figure(fields.get("sent"));
  const lastOperation = /^[A-Z0-9]{1,12}$/.exec(fields.get("lop") ?? "")?.[0];
  const establishedAt = figure(fields.get("est"));
  return {
    address: addressOf(name),
    ...(session !== undefined && session !== NO_SESSION && { session }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(queued !== undefined && { queued }),
    ...(received !== undefined && { received }),
    ...(sent !== undefined && { sent }),
    ...(lastOperation !== undefined && { lastOperation }),
    ...(establishedAt !== undefined && { establishedAt }),
  };
}

/** Java writes `NAME/ADDRESS:PORT`, mostly without the name; ClickHouse Keeper the address alone. */
export function addressOf(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}
