import type { JuteWriter } from "../../wire/jute.ts";
import { Opcode } from "../../wire/protocol.ts";
import { Aborts } from "../aborts.ts";
import type { SessionOptions } from "../options.ts";
import { Chroot } from "./chroot.ts";
import { Credentials } from "./connecting/credentials.ts";
import { ServerReleases } from "./connecting/server-releases.ts";
import { type Clock, SystemClock } from "./lifetime/clock.ts";
import { Leases } from "./lifetime/leases.ts";
import { Liveness } from "./lifetime/liveness.ts";
import { ConnectionState } from "./node-zookeeper-client-adapter.ts";
import { ReadBatches } from "./requests/read-batches.ts";
import { Request } from "./requests/request.ts";
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
  readonly releases: ServerReleases;
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
  const releases: ServerReleases = new ServerReleases(options.tls, (path) =>
    readNode(writer, path),
  );
  const watches = new WatchRegistry((path) => chroot.toClientPath(path));
  const credentials = new Credentials();
  for (const { scheme, credential } of options.auth ?? []) credentials.add(scheme, credential);
  const requests = new RequestQueue(new ReadBatches(releases), 0, options.maxRequestBytes);
  const state = new ConnectionState(requests);
  const writer = new RequestWriter(requests, state, credentials, liveness);
  return {
    options,
    clock,
    liveness,
    leases: new Leases(liveness),
    aborts: new Aborts(),
    chroot,
    releases,
    watches,
    reregistration: new WatchReregistration(watches),
    credentials,
    requests,
    state,
    writer,
  };
}

/** The data of a znode by its path on the server; undefined when it cannot be read. */
function readNode(writer: RequestWriter, path: string): Promise<Buffer | null | undefined> {
  return new Promise((resolve) => {
    const write = (body: JuteWriter) => {
      body.string(path);
      body.boolean(false);
    };
    writer.add(new Request(Opcode.getData, write, path), (failure, body) =>
      resolve(failure === null ? body?.buffer() : undefined),
    );
  });
}
