import { UsageError } from "../errors.ts";
import { followServers, type ServerReading } from "../recipes/servers/follow-servers.ts";
import type { Result } from "../results/result.ts";
import { duration, option, type ValueParser } from "./arguments.ts";
import { askedServers } from "./asked-servers.ts";
import { defineCommand } from "./command.ts";
import { count } from "./count.ts";

import { noAnswer, notAllowed, wordError } from "./word-failures.ts";

const DEFAULT_EVERY_MS = 2_000;
/** Each tick is two connections to each server. */
const LEAST_EVERY_MS = 100;

const interval: ValueParser<number> = (text, where) => {
  const ms = duration(text, where) as number;
  if (ms >= LEAST_EVERY_MS) return ms;
  throw new UsageError(`'${text}' is too short`, { hint: `use ${LEAST_EVERY_MS}ms or more` });
};

export const top = defineCommand({
  details:
    "top asks each server of the list for srvr and mntr, and shows the differences per second. It " +
    "needs no session and no quorum; Ctrl-C ends it. In a pipe one line for each server and tick, " +
    "with tabs between time, server, role, requests/s, answers/s, outstanding requests, latency " +
    "in ms, connections, znodes, watches, zxids/s and the reason why it is down; - is unknown. The " +
    "latency is the mean of the tick; before 3.6, and without mntr, the mean since the server " +
    "started. A rate is left out where the counters were reset. The two words of a tick are counted, too.",
  examples: ["top", "top --every 1s", "top -n 1 --every 1s --json"],
  effect: "none",
  args: {},
  options: {
    count: option("-n", "n", count, "end after this many ticks"),
    every: option("", "dur", interval, "the length of a tick (default: 2s)"),
  },
  async *run(context, _, { count: limit = Infinity, every = DEFAULT_EVERY_MS }) {
    const { signal, output } = context;
    const servers = await askedServers(context);
    try {
      for await (const tick of followServers(servers, { everyMs: every, signal })) {
        if (tick.tick === 0) refuseIfNoneServes(tick.readings);
        // The first look has no rates: only a person is shown that there is something.
        if (tick.tick > 0 || output.isForPeople)
          yield { kind: "servers-tick", everyMs: every, ...tick } satisfies Result;
        if (tick.tick >= limit) return;
      }
    } catch (error) {
      // Ctrl-C is the usual end of a live view: it prints no error, but the exit code is 130.
      if (!signal.aborted) throw error;
    }
  },
});

/** Throws if no server answers the first time; a server that is down later is shown as down. */
function refuseIfNoneServes(readings: readonly ServerReading[]): void {
  if (readings.some(({ state }) => state === "serving" || state === "not-serving")) return;
  const failures = readings.map(({ server, state, says = "no answer", why = "no-answer" }) =>
    state === "not-allowed"
      ? notAllowed(server, ["srvr", "mntr"])
      : wordError(server, "srvr", { kind: "failed", why, says }),
  );
  throw noAnswer("no server answered srvr", failures);
}
