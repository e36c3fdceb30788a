/** Examines the servers of a connect string, and the members of the ensemble that it lacks. */
import { isIP } from "node:net";
import {
  ConnectionError,
  DeadlineError,
  NoNodeError,
  OperationError,
  PermissionError,
} from "../../errors.ts";
import { type Member, membersOf } from "../../session/ensemble-config.ts";
import type { ServerAddress } from "../../session/options.ts";
import type { Session } from "../../session/session.ts";
import {
  type AskedServer,
  askServers,
  askSynced,
  findLags,
  isKnown,
  type Lag,
} from "./ask-servers.ts";
import type { EnsembleFinding, ServerFinding } from "./finding.ts";
import { judgeEnsemble, judgeLag, judgeServer, judgeSynced } from "./judge-servers.ts";
import type { Surroundings } from "./surroundings.ts";

/** What is known of the servers when their examination has ended. */
export interface ExaminedServers {
  readonly asked: readonly AskedServer[];
  readonly lags: readonly Lag[];
  /** Undefined where no server takes a session. The caller closes it. */
  readonly session: Session | undefined;
}

export class ServerExamination {
  readonly #around: Surroundings;
  readonly #listed: readonly ServerAddress[];
  #asked: AskedServer[] = [];
  #lags: readonly Lag[] = [];
  #session: Session | undefined;

  constructor(around: Surroundings, listed: readonly ServerAddress[]) {
    this.#around = around;
    this.#listed = listed;
  }

  get result(): ExaminedServers {
    return { asked: this.#asked, lags: this.#lags, session: this.#session };
  }

  async *findings(): AsyncGenerator<ServerFinding | EnsembleFinding> {
    const { servers, signal } = this.#around;
    this.#asked = await askServers(servers, this.#listed);
    for (const one of this.#asked) yield* judgeServer(one, this.#asked);
    this.#lags = await findLags(servers, this.#asked, signal);
    yield* this.#openSession();
    const members = await this.#members();
    const missing = await this.#notListed(members);
    if (missing.length > 0) {
      yield { check: "member-not-listed", severity: "note", members: missing };
      const more = await askServers(servers, missing, { isListed: false });
      this.#asked.push(...more);
      for (const one of more) if (isKnown(one)) yield* judgeServer(one, more);
      // With the leader among them, or new followers.
      this.#lags = await findLags(servers, this.#asked, signal);
    }
    yield* judgeEnsemble(this.#asked);
    for (const lag of this.#lags) yield judgeLag(lag);
    yield* this.#synced(members);
  }

  /**
   * Only where it can come about: a server that serves, or one that does not say. A server that
   * lags cannot commit the opening of a session in time.
   */
  async *#openSession(): AsyncGenerator<EnsembleFinding> {
    const { openSession, signal } = this.#around;
    const lagging = new Set(this.#lags.map(({ asked }) => asked));
    const able = this.#asked.filter(
      (asked) => ["status", "not-allowed"].includes(asked.answer.kind) && !lagging.has(asked),
    );
    if (able.length === 0) return;
    const session = await openSession([...new Set(able.map(({ server }) => server))]);
    this.#session = session;
    try {
      await session.connected({ signal });
    } catch (error) {
      this.#session = undefined;
      await session.close();
      const isSilence = error instanceof ConnectionError || error instanceof DeadlineError;
      if (!isSilence) throw error;
      yield { check: "no-session", severity: "error", says: error.message };
    }
  }

  /** Empty where the configuration cannot be read: before 3.5, or without permission. */
  async #members(): Promise<Member[]> {
    const { signal } = this.#around;
    try {
      const { data } = (await this.#session?.getConfig({ signal })) ?? { data: null };
      return membersOf(data?.toString() ?? "");
    } catch (error) {
      const isRefused = error instanceof PermissionError || error instanceof OperationError;
      if (isRefused || error instanceof NoNodeError) return [];
      throw error;
    }
  }

  /** Members are compared by their addresses: names and numbers may be mixed. */
  async #notListed(members: readonly Member[]): Promise<ServerAddress[]> {
    const { servers } = this.#around;
    const { tls } = await servers.options();
    const listed = await Promise.all(this.#listed.map((server) => this.#keysOf(server)));
    const known = new Set(listed.flat());
    const missing: ServerAddress[] = [];
    for (const { host, port } of members) {
      // Where the port of clients is not configured, nothing can be put on the list. The
      // configuration has no TLS ports.
      if (port === undefined || tls !== undefined) continue;
      const keys = await this.#keysOf({ host, port });
      // A name that has no address here cannot be used from here.
      if (keys.length > 0 && !keys.some((key) => known.has(key))) missing.push({ host, port });
    }
    return missing;
  }

  async #keysOf({ host, port }: ServerAddress): Promise<string[]> {
    const found = await this.#around.servers.addresses(host);
    const ips = found.kind === "found" ? found.ips : [];
    return ips.map((ip) => `${isLoopbackIp(ip) ? "loopback" : ip} ${port}`);
  }

  async *#synced(members: readonly Member[]): AsyncGenerator<ServerFinding | EnsembleFinding> {
    const leader = this.#asked
      .filter(isKnown)
      .find(({ answer }) => answer.status.mode === "leader");
    if (leader === undefined) return;
    const { isAllowed, ...counted } = await askSynced(this.#around.servers, leader);
    const { name: server } = leader;
    if (!isAllowed) yield { check: "word-not-allowed", severity: "note", server, word: "mntr" };
    yield* judgeSynced(server, members, counted);
  }
}

function isLoopbackIp(ip: string): boolean {
  return ip === "::1" || (isIP(ip) === 4 && ip.startsWith("127."));
}
