import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.ts";

/** One process's way to the servers: a proxy in front of each. */
export class Network {
  readonly proxies: readonly FaultProxy[];
  /** A fault is under way; a second one would end with the first. */
  isFaulty = false;

  private constructor(proxies: readonly FaultProxy[]) {
    this.proxies = proxies;
  }

  static async to(ports: readonly number[]): Promise<Network> {
    return new Network(await Promise.all(ports.map((port) => startFaultProxy(port))));
  }

  get connectString(): string {
    return this.proxies.map((proxy) => proxy.address).join(",");
  }

  heal(): void {
    for (const proxy of this.proxies) proxy.heal();
  }

  async close(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.close()));
  }
}
