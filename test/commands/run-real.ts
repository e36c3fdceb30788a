import { main } from "../../src/main.ts";
import { openSession } from "../../src/session/zookeeper/client.ts";
import { askWord } from "../../src/session/zookeeper/connecting/four-letter-word.ts";
import { type MemoryIoOptions, memoryIo } from "./memory-io.ts";

export interface RanReal {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The program without a process, on a real server. */
export async function runReal(
  server: string,
  argv: readonly string[],
  options: MemoryIoOptions = {},
): Promise<RanReal> {
  const io = memoryIo(options);
  const exit = await main({ programName: "zksh", argv: ["-s", server, ...argv] }, io, {
    openSession: async (sessionOptions) => openSession(sessionOptions),
    askWord,
    onSignal: () => () => {},
  });
  return { exit, stdout: String(io.written.stdout), stderr: io.written.stderr };
}
