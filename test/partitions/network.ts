import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";

/** A machine of its own as far as the network goes: a namespace with one address on the bridge. */
export class Place {
  readonly name: string;
  readonly address: string;
  /** Starts a command in the namespace. */
  readonly through: readonly string[];
  readonly #incoming: string[] = [];
  readonly #outgoing: string[] = [];

  constructor(name: string, address: string, namespace: string) {
    this.name = name;
    this.address = address;
    this.through = ["nsenter", `--net=${namespace}`];
  }

  /** Adds rules to the firewall: nftables statements for packets that come in and that go out. */
  filter(rules: { readonly incoming?: string; readonly outgoing?: string }): void {
    if (rules.incoming) this.#incoming.push(rules.incoming);
    if (rules.outgoing) this.#outgoing.push(rules.outgoing);
    this.#apply();
  }

  heal(): void {
    this.#incoming.length = 0;
    this.#outgoing.length = 0;
    this.#apply();
  }

  #apply(): void {
    const chain = (hook: string, rules: readonly string[]) =>
      `chain ${hook} { type filter hook ${hook} priority 0; ${rules.map((rule) => `${rule};`).join(" ")} }\n`;
    const table = `table ip faults {\n${chain("input", this.#incoming)}${chain("output", this.#outgoing)}}\n`;
    run([...this.through, "nft", "-f", "-"], `flush ruleset\n${table}`);
  }
}

/**
 * Namespaces on one bridge; the bridge is in the namespace of this process, which reaches them all.
 */
export class Network {
  readonly #bridge: string;
  readonly #subnet: string;
  readonly #directory = temporaryDirectory("namespaces");
  readonly #places: Place[] = [];
  readonly #links: string[] = [];

  /** Networks of one process need different numbers, from 0 to 254. */
  constructor(number: number) {
    this.#bridge = `br${number}`;
    this.#subnet = `10.${number}.0`;
    ip(
      `link set lo up`,
      `link add ${this.#bridge} type bridge`,
      `addr add ${this.#hub}/24 dev ${this.#bridge}`,
    );
    ip(`link set ${this.#bridge} up`);
  }

  /** This process's own address. */
  get #hub(): string {
    return `${this.#subnet}.1`;
  }

  add(name: string): Place {
    const number = this.#places.length + 2;
    const namespace = join(this.#directory, name);
    const link = `${this.#bridge}p${number}`;
    writeFileSync(namespace, "");
    run(["unshare", `--net=${namespace}`, "true"]);
    const place = new Place(name, `${this.#subnet}.${number}`, namespace);
    this.#links.push(link);
    ip(
      `link add ${link} type veth peer name eth0 netns ${namespace}`,
      `link set ${link} master ${this.#bridge}`,
      `link set ${link} up`,
    );
    const inside = ["link set lo up", `addr add ${place.address}/24 dev eth0`, "link set eth0 up"];
    run([...place.through, "ip", "-batch", "-"], `${inside.join("\n")}\n`);
    this.#places.push(place);
    return place;
  }

  /**
   * The firewall of each place rejects the others. A packet to the others ends in a reset for the
   * local sender, so that the place notices at once; the resets for the others are packets to them
   * too and do not pass, so that the others notice by their timeouts only.
   */
  reject(places: readonly Place[], others: readonly Place[]): void {
    const reset = "meta l4proto tcp reject with tcp reset";
    for (const place of places) {
      // The reset for the local sender bears the address of the others, but comes in through lo.
      const incoming = `iifname eth0 ip saddr ${set(others)} ${reset}`;
      place.filter({ incoming, outgoing: `ip daddr ${set(others)} ${reset}` });
    }
  }

  /** Nothing passes between the two sides. */
  drop(places: readonly Place[], others: readonly Place[]): void {
    this.dropOneWay(places, others);
    this.dropOneWay(others, places);
  }

  /** Nothing passes from `senders` to `receivers`. */
  dropOneWay(senders: readonly Place[], receivers: readonly Place[]): void {
    for (const receiver of receivers)
      receiver.filter({ incoming: `ip saddr ${set(senders)} drop` });
  }

  /** Each packet is lost with this probability; those of this process are not. */
  lose(percent: number): void {
    const rule = `ip saddr != ${this.#hub} numgen random mod 100 < ${percent} drop`;
    for (const place of this.#places) place.filter({ incoming: rule });
  }

  heal(): void {
    for (const place of this.#places) place.heal();
  }

  /** What runs in the namespaces has ended before. */
  close(): void {
    // The kernel would remove the links with the namespaces, but only some time later.
    ip(...[...this.#links, this.#bridge].map((link) => `link del ${link}`));
    for (const place of this.#places) run(["umount", join(this.#directory, place.name)]);
    removeDirectory(this.#directory);
  }
}

function set(places: readonly Place[]): string {
  return `{ ${places.map(({ address }) => address).join(", ")} }`;
}

function ip(...lines: string[]): void {
  run(["ip", "-batch", "-"], `${lines.join("\n")}\n`);
}

function run([command = "", ...args]: readonly string[], input = ""): void {
  const { status, stderr, error } = spawnSync(command, args, { input, encoding: "utf8" });
  if (status === 0) return;
  const words = [command, ...args].join(" ");
  throw new Error(`${words} failed: ${stderr?.trim() || error?.message}\n${input}`);
}
