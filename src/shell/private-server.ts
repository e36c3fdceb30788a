import type { RunningServer } from "../commands/command.ts";

/** The server of --embedded: started when the first session is opened, gone with the program. */
export class PrivateServer {
  readonly #start: () => Promise<RunningServer>;
  #started: Promise<RunningServer> | undefined;

  constructor(start: () => Promise<RunningServer>) {
    this.#start = start;
  }

  async address(): Promise<string> {
    this.#started ??= this.#start();
    return (await this.#started).address;
  }

  async stop(): Promise<void> {
    const server = await this.#started?.catch(() => undefined);
    await server?.stop();
  }
}
