/**
 * Keeps the shell connected: opens sessions in the background, and reports their state and what is
 * lost with them.
 */

import { within } from "../../async/within.ts";
import { tlsFileNames } from "../../config/tls-settings.ts";
import { ConnectionError, PermissionError } from "../../errors.ts";
import type { Session, StateChange } from "../../session/session.ts";
import { hexId } from "../../text/hex-id.ts";
import type { FrontEnd } from "../front-end.ts";
import { hintFor, tlsHint } from "../reports/hints.ts";
import type { ShellState } from "../shell-state.ts";
import type { Screen } from "./screen.ts";
import type { LostResources, SessionResources } from "./session-resources.ts";

const RETRY_MS = 2_000;
const ABOUT_WITHIN_MS = 1_000;

export interface KeeperOptions {
  readonly frontEnd: FrontEnd;
  readonly state: ShellState;
  readonly resources: SessionResources;
  readonly screen: Screen;
  /** The servers the program was started with, as they were written. */
  readonly servers: string;
}

export interface KeeperListener {
  /** Something that the prompt shows may have changed. */
  onChange(): void;
  /** A line is running, and will report its failures itself. */
  isBusy(): boolean;
  /** A command is running that reports itself that no server answers: the shell does not as well. */
  reportsOutages(): boolean;
}

export class SessionKeeper {
  readonly #options: KeeperOptions;
  #listener: KeeperListener | undefined;
  #session: Session | undefined;
  #hasComplained = false;
  /** The running command has reported the present outage, in place of the shell. */
  #isReported = false;
  #isStopped = false;
  #retry: NodeJS.Timeout | undefined;
  #tick: NodeJS.Timeout | undefined;

  constructor(options: KeeperOptions) {
    this.#options = options;
    options.state.onSession((session) => this.#adopt(session));
  }

  get session(): Session | undefined {
    return this.#session;
  }

  /** The server attached to, or the first of those to be tried, and the chroot. */
  get server(): string {
    const { frontEnd, state, servers } = this.#options;
    const given = state.target === undefined ? servers : frontEnd.addressOf(state.target);
    const server = this.#session?.server ?? given;
    // Where its socket is does not help at the prompt.
    if (server.startsWith("unix:")) return "embedded";
    const slash = given.indexOf("/");
    const chroot = slash < 0 ? "" : given.slice(slash).replace(/\/$/, "");
    return server.replace(/[,/].*/s, "") + chroot;
  }

  /** The state of the connection for the prompt; undefined while connected. */
  get trouble(): string | undefined {
    const session = this.#session;
    if (this.#options.state.isDisconnected) return "closed";
    if (session?.state === "connected") return undefined;
    if (session?.state === "lost") return "not connected";
    if (!session || session.id === 0n) return this.#hasComplained ? "not connected" : "connecting";
    return `suspended, ${Math.ceil(session.aliveForMs() / 1_000)}s left`;
  }

  /** Opens a session in the background, and keeps it open until {@link stop}. */
  start(listener: KeeperListener): void {
    this.#listener = listener;
    this.#open();
  }

  #open(): void {
    this.#options.state.session().catch((error: unknown) => this.#complain(error));
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#retry);
    clearInterval(this.#tick);
  }

  #adopt(session: Session): void {
    this.#session = session;
    clearTimeout(this.#retry);
    session.onState((change) => this.#changed(session, change));
    session.connected().catch((error: unknown) => {
      if (session === this.#session && !this.#isStopped) this.#complain(error);
    });
    this.#listener?.onChange();
  }

  #changed(session: Session, { state, reason, server }: StateChange): void {
    if (session !== this.#session || this.#isStopped) return;
    clearInterval(this.#tick);
    if (state === "connected") this.#attached(session, server ?? "");
    else if (state === "suspended") this.#suspended(session);
    // Its watches report their loss in this turn; in the next one all losses are known.
    else setImmediate(() => this.#lost(session, reason));
    this.#listener?.onChange();
  }

  #attached(session: Session, server: string): void {
    const isNew = !this.#greeted.has(session);
    this.#hasComplained = false;
    this.#greeted.add(session);
    if (isNew && this.#options.state.isConnecting) return;
    if (!isNew) {
      // A command that was ended meanwhile does not report the end of the outage.
      if (this.#isReported && this.#listener?.reportsOutages()) return;
      return this.#options.screen.message(`reconnected to ${server}; the session was kept`);
    }
    void this.#greet(session, server);
  }

  #aboutServer(server: string): Promise<string | undefined> {
    const { frontEnd, state } = this.#options;
    return frontEnd.aboutServer(server, state.target);
  }

  readonly #greeted = new WeakSet<Session>();

  async #greet(session: Session, server: string): Promise<void> {
    const asking = this.#aboutServer(server).catch(() => undefined);
    const about = await within(ABOUT_WITHIN_MS, asking);
    if (this.#isStopped || session !== this.#session) return;
    const what = about === undefined ? "" : ` (${about})`;
    const how = session.isReadOnly ? ", read-only" : "";
    this.#options.screen.message(
      `connected to ${server}${what}, session ${hexId(session.id)}${how}`,
    );
  }

  #suspended(session: Session): void {
    const seconds = Math.ceil(session.aliveForMs() / 1_000);
    this.#isReported = this.#listener?.reportsOutages() ?? false;
    if (!this.#isReported)
      this.#options.screen.message(
        `connection lost; reconnecting; the session expires in ${seconds}s`,
      );
    this.#tick = setInterval(() => this.#listener?.onChange(), 1_000).unref();
  }

  #lost(session: Session, reason: StateChange["reason"]): void {
    if (this.#isStopped || session !== this.#session) return;
    const losses = this.#options.resources.close();
    if (reason === "expired") {
      const id = hexId(session.id);
      this.#options.screen.message(
        `session ${id} expired${describe(losses, this.#options.state.takeLostLocks())}`,
      );
      this.#open();
    } else if (reason === "auth-failed") {
      const lost = describe(losses, this.#options.state.takeLostLocks());
      void this.#tellRefusal(session, this.#greeted.has(session) ? lost : "");
    }
    this.#listener?.onChange();
  }

  /** The session has ended because a credential or a login was refused. */
  async #tellRefusal(session: Session, losses: string): Promise<void> {
    const why = await session.connected().catch((error: unknown) => error);
    if (!(why instanceof PermissionError)) return;
    // A line that waits for the session reports the same error.
    if (losses === "" && this.#listener?.isBusy()) return;
    const hint = this.#options.frontEnd.asksForPassword
      ? "start zksh again to type the password again"
      : hintFor(undefined, why.reason);
    const ended = `the session is over${losses}; the next command opens a new one`;
    this.#options.screen.message(`${why.message}${hint ? ` (${hint})` : ""}; ${ended}`);
  }

  /** No server could be reached: reported once, then retried without messages. */
  #complain(error: unknown): void {
    // Reported with the end of the session.
    if (error instanceof PermissionError) return;
    const isNews = !this.#hasComplained && !this.#listener?.isBusy();
    this.#hasComplained = true;
    if (isNews) {
      const why = error instanceof Error ? error.message : String(error);
      const { frontEnd, screen } = this.#options;
      const { files, javaTls } = frontEnd.settings;
      const tlsProblem = error instanceof ConnectionError ? error.tlsProblem : undefined;
      const hint = tlsProblem
        ? ` (${tlsHint(tlsProblem, tlsFileNames(files, javaTls))})`
        : frontEnd.settings.isDefaultServer
          ? " (zksh --embedded needs no server)"
          : "";
      screen.message(`${why}; retrying in the background${hint}`);
    }
    const isUnreachable = error instanceof ConnectionError && error.reason === "unreachable";
    if (isUnreachable && !this.#options.state.isDisconnected) {
      this.#retry = setTimeout(() => this.#open(), RETRY_MS).unref();
    }
    this.#listener?.onChange();
  }
}

function describe({ ephemerals, watches }: LostResources, locks: readonly string[]): string {
  const isTicket = (path: string) => locks.some((lock) => path.startsWith(`${lock}/`));
  const parts = [
    ["ephemerals", ephemerals.filter((path) => !isTicket(path))],
    ["watches on", watches],
    ["locks", locks],
  ] as const;
  const lost = parts
    .filter(([, paths]) => paths.length > 0)
    .map(([what, paths]) => `${what} ${paths.join(", ")}`);
  return lost.length === 0 ? "; nothing was lost with it" : `; lost with it: ${lost.join("; ")}`;
}
