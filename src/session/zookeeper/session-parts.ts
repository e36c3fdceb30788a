import { Aborts } from "../aborts.ts";
import type { SessionOptions } from "../options.ts";
import { Chroot } from "./chroot.ts";
import { Credentials } from "./connecting/credentials.ts";
import { ServerVersions } from "./connecting/server-version.ts";
import { type Clock, SystemClock } from "./lifetime/clock.ts";
import { Leases } from "./lifetime/leases.ts";
import { Liveness } from "./lifetime/liveness.ts";
import { ConnectionState } from "./node-zookeeper-client-adapter.ts";
import { ReadBatches } from "./requests/read-batches.ts";
import { RequestQueue } from "./requests/request-queue.ts";
import { RequestWriter } from "./requests/request-writer.ts";
import { WatchReregistration } from "./watches/reregister-watches.ts";
import { WatchRegistry } from "./watches/watch-registry.ts";

/** The parts of one session that hold its data; they know nothing of its life. */
export interface SessionParts {
  readonly options: SessionOptions;
  readonly clock: Clock;
  readonly liveness: Liveness;
  readonly leases: Leases;
  readonly aborts: Aborts;
  readonly chroot: Chroot;
  readonly versions: ServerVersions;
  readonly watches: WatchRegistry;
  readonly reregistration: WatchReregistration;
  readonly credentials: Credentials;
  readonly requests: RequestQueue;
  readonly state: ConnectionState;
  readonly writer: RequestWriter;
}

export function sessionParts(options: SessionOptions): SessionParts {
  const clock = new SystemClock();
  const liveness = new Liveness(clock);
  const chroot = new Chroot(options.chroot);
  const versions = new ServerVersions(options.tls);
  const watches = new WatchRegistry((path) => chroot.toClientPath(path));
  const credentials = new Credentials();
  for (const { scheme, credential } of options.auth ?? []) credentials.add(scheme, credential);
  const requests = new RequestQueue(new ReadBatches(versions), 0, options.maxRequestBytes);
  const state = new ConnectionState(requests);
  return {
    options,
    clock,
    liveness,
    leases: new Leases(liveness),
    aborts: new Aborts(),
    chroot,
    versions,
    watches,
    reregistration: new WatchReregistration(watches),
    credentials,
    requests,
    state,
    writer: new RequestWriter(requests, state, credentials, liveness),
  };
}
