/**
 * The parts of the process that main needs and tests replace: sessions, signals, and what only the
 * system knows.
 */
import { takeSignals } from "./processes/signals.ts";
import type { SessionOptions } from "./session/options.ts";
import type { Session } from "./session/session.ts";

/** What main needs that is not a stream. */
export interface Services {
  openSession(options: SessionOptions): Promise<Session>;
  /** What a server says of itself: its release and its role. Undefined where it does not say. */
  about?(server: string, options: SessionOptions): Promise<string | undefined>;
  /** Whether users other than its owner may read a file. */
  isReadableByOthers?(path: string): Promise<boolean>;
  /** Tells of the signals that end the program; returns the function that stops telling. */
  onSignal(listener: (signal: EndingSignal) => void): () => void;
  /** Tells that nothing is left which the program could wait for. */
  onIdle?(listener: () => void): void;
}

// Node would open its debugger for anybody who sends SIGUSR1.
const ENDING_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGQUIT"] as const;

export type EndingSignal = (typeof ENDING_SIGNALS)[number];

export const processServices: Services = {
  async openSession(options) {
    const { openSession } = await import("./session/zookeeper/client.ts");
    return openSession(options);
  },
  async about(address, { tls }) {
    const { describeServer } = await import("./session/zookeeper/connecting/four-letter-word.ts");
    return describeServer(address, tls);
  },
  async isReadableByOthers(path) {
    const { stat } = await import("node:fs/promises");
    const found = await stat(path);
    return found.isFile() && (found.mode & 0o044) !== 0;
  },
  onIdle(listener) {
    process.once("beforeExit", listener);
  },
  onSignal(listener) {
    const giveBack = ENDING_SIGNALS.map((signal) => {
      const stop = takeSignals([signal], () => {
        // Once: a second Ctrl-C ends a program that takes too long to end. But when a terminal is
        // closed, both its shell and the kernel send SIGHUP, and the second must not keep us from
        // saying goodbye to the server. Not before all who listen have heard it: a spinner's
        // listener ends the program when it finds itself alone.
        if (signal !== "SIGHUP") process.nextTick(stop);
        listener(signal);
      });
      return stop;
    });
    return () => {
      for (const stop of giveBack) stop();
    };
  },
};
