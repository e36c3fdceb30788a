import { UsageError } from "../errors.ts";
import type { ServerAddress, SessionOptions } from "./options.ts";
import { validatePath } from "./path.ts";

const DEFAULT_PORT = 2181;

const SOCKET = "unix:";
const SRV = "dns-srv://";
/** The system keeps a socket's path in 108 bytes, on macOS in 104, with a zero at the end. */
const MAX_SOCKET_BYTES = 103;
const MAX_DNS_NAME = 253;

/**
 * Reads `host[:port],…[/chroot]`; IPv6 addresses stand in `[ ]` when a port follows. `unix:PATH` is
 * the socket of an embedded server, alone and without a chroot. `dns-srv://NAME[/chroot]` takes the
 * servers from the SRV records of a DNS name. Throws UsageError.
 *
 * @example
 * ```ts
 * parseConnectString("zk1:2181,[::1]:2182/app");
 * // { servers: [{ host: "zk1", port: 2181 }, { host: "::1", port: 2182 }], chroot: "/app" }
 * ```
 */
export function parseConnectString(text: string): { servers: ServerAddress[]; chroot: string } {
  if (text.startsWith(SOCKET)) return { servers: [parseSocket(text)], chroot: "" };
  const isSrv = text.startsWith(SRV);
  const address = isSrv ? text.slice(SRV.length) : text;
  const slash = address.indexOf("/");
  const hosts = slash < 0 ? address : address.slice(0, slash);
  const chroot = slash < 0 || address.slice(slash) === "/" ? "" : address.slice(slash);
  if (chroot !== "") validatePath(chroot);
  if (isSrv) return { servers: [parseSrvName(hosts, text)], chroot };
  const servers = hosts.split(",").map((part) => parseAddress(part.trim(), text));
  return { servers, chroot };
}

function parseSrvName(name: string, whole: string): ServerAddress {
  if (/^[\w-]+(\.[\w-]+)*\.?$/.test(name) && name.length <= MAX_DNS_NAME)
    return { host: name, port: 0, isSrvName: true };
  throw new UsageError(`bad DNS name in '${whole}'`, {
    hint: "use dns-srv://NAME[/chroot], for example dns-srv://_zookeeper._tcp.example.com/app",
  });
}

function parseSocket(text: string): ServerAddress {
  const host = text.slice(SOCKET.length);
  if (isSocket({ host }) && Buffer.byteLength(host) <= MAX_SOCKET_BYTES) return { host, port: 0 };
  throw new UsageError(`bad socket '${text}'`, {
    hint: `use unix:/PATH with at most ${MAX_SOCKET_BYTES} bytes`,
  });
}

/**
 * Whether a server is reached through the file system: what is said there never leaves this
 * machine.
 */
export function isSocket({ host }: Pick<ServerAddress, "host">): boolean {
  return host.startsWith("/");
}

/** Whether an address is this machine's own, by its name alone. */
export function isLoopback({ host }: Pick<ServerAddress, "host">): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host);
}

function parseAddress(part: string, whole: string): ServerAddress {
  if (part.includes("[") || part.includes("]")) {
    const [, host, port] = /^\[([^\]]+)\](?::(.*))?$/.exec(part) ?? [];
    if (host !== undefined) return { host, port: parsePort(port, whole) };
    throw new UsageError(`bad address '${part}' in server list: '${whole}'`, {
      hint: "write IPv6 addresses in brackets: [::1]:2181",
    });
  }
  // More than one colon without brackets can only be a bare IPv6 address, which leaves no room for
  // a port.
  if (part.split(":").length > 2) return { host: part, port: DEFAULT_PORT };
  const [host = "", port] = part.split(":");
  if (host === "")
    throw new UsageError(`empty host in server list: '${whole}'`, {
      hint: "use host[:port],…[/chroot]",
    });
  return { host, port: parsePort(port, whole) };
}

function parsePort(text: string | undefined, whole: string): number {
  if (text === undefined) return DEFAULT_PORT;
  const port = /^\d+$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65535)
    throw new UsageError(`bad port '${text}' in server list: '${whole}'`);
  return port;
}

/** The text that {@link parseConnectString} reads. */
export function formatConnectString({
  servers,
  chroot = "",
}: Pick<SessionOptions, "servers" | "chroot">): string {
  return servers.map(formatAddress).join() + chroot;
}

/** `host:port`, with brackets around IPv6; `unix:PATH` for a socket, `dns-srv://NAME` for SRV. */
export function formatAddress({ host, port, isSrvName }: ServerAddress): string {
  if (isSrvName) return `${SRV}${host}`;
  if (isSocket({ host })) return `${SOCKET}${host}`;
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
