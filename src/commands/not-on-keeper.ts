/** What ClickHouse Keeper does not have, though no operation tells it. */
import { OperationError } from "../errors.ts";
import type { CallOptions, Session } from "../session/session.ts";

/** Waits for a server; throws where it is ClickHouse Keeper. `what` is what it does not have. */
export async function refuseOnKeeper(
  session: Session,
  what: string,
  options: CallOptions,
): Promise<void> {
  if (session.isKeeper === undefined) await session.connected(options);
  if (session.isKeeper) throw notOnKeeper(session, what);
}

export function notOnKeeper({ server }: Session, what: string): OperationError {
  return new OperationError("unimplemented", `${what} not on ClickHouse Keeper`, {
    hint: `server: ${server ?? "none"}; help servers lists what works where`,
  });
}
