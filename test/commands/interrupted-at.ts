import { InterruptedError } from "../../src/errors.ts";
import { main } from "../../src/main.ts";
import type { EndingSignal } from "../../src/shell/runtime.ts";
import { memoryIo } from "./memory-io.ts";
import type { StubSession } from "./stub-session.ts";

type Method = "multi" | "delete" | "setAcl" | "create";

/**
 * The program, with Ctrl-C right after the request number `count` of a kind was sent; the server
 * still carries it out.
 */
export async function interruptedAt(
  session: StubSession,
  method: Method,
  count: number,
  argv: readonly string[],
): Promise<{ readonly exit: number; readonly stderr: string }> {
  const io = memoryIo();
  let interrupt: (signal: EndingSignal) => void = () => {};
  const request = session[method].bind(session) as (...args: unknown[]) => Promise<unknown>;
  let calls = 0;
  Object.assign(session, {
    [method]: async (...args: unknown[]) => {
      if (++calls !== count) return request(...args);
      const outcome = request(...args);
      interrupt("SIGINT");
      throw new InterruptedError("interrupted", { outcome });
    },
  });
  const exit = await main({ programName: "zksh", argv }, io, {
    openSession: async () => session.asSession(),
    onSignal(listener) {
      interrupt = listener;
      return () => {};
    },
  });
  return { exit, stderr: io.written.stderr };
}
