import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunningServer, ServerRequest } from "../commands/command.ts";
import { OperationError } from "../errors.ts";

/** A socket's path must be short; a temporary directory with a longer name is not used. */
const MAX_DIRECTORY_BYTES = 70;

/**
 * The server of --embedded: it starts with the first session and stops with the program. It listens
 * on a socket in a directory with mode 0700 (mkdtemp): every user of the machine could connect to a
 * port. Programs under a lock get the path in their environment.
 */
export class PrivateServer {
  readonly #start: (request: ServerRequest) => Promise<RunningServer>;
  #started: Promise<RunningServer> | undefined;

  constructor(start: (request: ServerRequest) => Promise<RunningServer>) {
    this.#start = start;
  }

  async address(): Promise<string> {
    this.#started ??= this.#listen();
    return (await this.#started).address;
  }

  async stop(): Promise<void> {
    const server = await this.#started?.catch(() => undefined);
    await server?.stop();
  }

  async #listen(): Promise<RunningServer> {
    const { mkdtemp, rm } = await import("node:fs/promises");
    const temporary = tmpdir();
    const parent = Buffer.byteLength(temporary) > MAX_DIRECTORY_BYTES ? "/tmp" : temporary;
    const directory = await mkdtemp(join(parent, "zksh-")).catch((cause: Error) => {
      const hint = "set TMPDIR to another directory";
      throw new OperationError(
        "cannot-listen",
        `no directory for the server's socket: ${cause.message}`,
        {
          cause,
          hint,
        },
      );
    });
    const remove = () => rm(directory, { recursive: true, force: true });
    try {
      const server = await this.#start({ socketPath: join(directory, "socket") });
      return {
        address: server.address,
        async stop() {
          await server.stop();
          await remove();
        },
      };
    } catch (error) {
      await remove();
      throw error;
    }
  }
}
