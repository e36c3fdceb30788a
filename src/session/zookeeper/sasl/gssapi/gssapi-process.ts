import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { GssapiAnswer, GssapiFailure, GssapiReply, GssapiRequest } from "./messages.ts";

/** A call of GSSAPI failed. */
export class GssapiCallError extends Error {
  readonly failure: GssapiFailure;

  constructor(failure: GssapiFailure) {
    super(failure.text);
    this.failure = failure;
  }
}

interface Waiting {
  resolve(answer: GssapiAnswer): void;
  reject(error: Error): void;
}

/** The process that makes the calls of Kerberos logins, in the order of the requests. */
export class GssapiProcess {
  readonly #child: ChildProcess;
  #waiting: Waiting | undefined;
  /** Settles when the process has answered all requests so far. */
  #last: Promise<unknown> = Promise.resolve();
  #unread = "";
  #ended: Error | undefined;

  constructor() {
    this.#child = spawn(process.execPath, [programFile()], {
      // Ctrl-C at the prompt is for the shell alone.
      detached: true,
      // In our working directory: KRB5CCNAME and KRB5_CONFIG may be relative.
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.#child.once("error", (error) => this.#end(error));
    this.#child.once("exit", (code, signal) =>
      this.#end(new Error(`the Kerberos process ended with ${signal ?? `code ${code}`}`)),
    );
    // A process that has ended is told of by its exit.
    this.#child.stdin?.on("error", () => {});
    this.#child.stdout?.setEncoding("utf8").on("data", (chunk: string) => this.#hear(chunk));
  }

  /** Rejects with a GssapiCallError, or when the process ends. */
  ask(request: GssapiRequest): Promise<GssapiAnswer> {
    const answer = this.#last.then(() => this.#ask(request));
    this.#last = answer.catch(() => {});
    return answer;
  }

  /** Ends the process, also in the middle of a call. */
  end(): void {
    const isBusy = this.#waiting !== undefined;
    this.#end(new Error("the login was given up"));
    if (isBusy) this.#child.kill("SIGKILL");
    this.#child.stdin?.end();
    this.#child.unref();
  }

  #ask(request: GssapiRequest): Promise<GssapiAnswer> {
    if (this.#ended) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#child.stdin?.write(`${JSON.stringify(request)}\n`);
    });
  }

  #hear(chunk: string): void {
    const [line, rest] = (this.#unread + chunk).split("\n", 2);
    this.#unread = rest ?? line ?? "";
    if (rest === undefined) return;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    const reply = JSON.parse(line ?? "") as GssapiReply;
    if ("failure" in reply) waiting?.reject(new GssapiCallError(reply.failure));
    else waiting?.resolve(reply);
  }

  #end(why: Error): void {
    this.#ended ??= why;
    this.#waiting?.reject(this.#ended);
    this.#waiting = undefined;
  }
}

/** In dist/, beside the bundle; only tests run the sources, after a build. */
function programFile(): string {
  const isSource = import.meta.url.endsWith(".ts");
  const where = isSource ? "../../../../../dist/gssapi.cjs" : "./gssapi.cjs";
  return fileURLToPath(new URL(where, import.meta.url));
}
