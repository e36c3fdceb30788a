import { createSocket } from "node:dgram";
import type { AddressInfo } from "node:net";

interface SrvRecord {
  readonly target: string;
  readonly port: number;
  readonly priority?: number;
  readonly weight?: number;
}

export interface DnsServer {
  /** `127.0.0.1:port`, for `setServers` of node:dns. */
  readonly address: string;
  /** The SRV records of the names that it knows; all others do not exist. */
  readonly records: Map<string, readonly SrvRecord[]>;
  /** How often it was asked. */
  readonly questions: readonly string[];
  /** From now on it answers nothing, or answers again. */
  isSilent: boolean;
  stop(): Promise<void>;
}

const SRV = 33;
const NO_ERROR = 0;
const NO_SUCH_NAME = 3;

/** Starts a name server that knows SRV records and nothing else. The caller stops it. */
export async function startDnsServer(): Promise<DnsServer> {
  const socket = createSocket("udp4");
  const questions: string[] = [];
  const server = {
    records: new Map<string, readonly SrvRecord[]>(),
    questions,
    isSilent: false,
    address: "",
    stop: () => new Promise<void>((resolve) => socket.close(resolve)),
  };
  socket.on("message", (message, { port, address }) => {
    const name = nameAt(message, 12);
    questions.push(name);
    if (server.isSilent) return;
    socket.send(answer(message, server.records.get(name)), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  server.address = `127.0.0.1:${(socket.address() as AddressInfo).port}`;
  return server;
}

/** A reply to the one question of `message` (RFC 1035, 4.1; RFC 2782 for the records). */
function answer(message: Buffer, records: readonly SrvRecord[] | undefined): Buffer {
  const questionEnd = 12 + nameAt(message, 12).length + 2 + 4;
  const header = Buffer.alloc(12);
  message.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180 | (records === undefined ? NO_SUCH_NAME : NO_ERROR), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records?.length ?? 0, 6);
  return Buffer.concat([
    header,
    message.subarray(12, questionEnd),
    ...(records ?? []).map(writeRecord),
  ]);
}

function writeRecord({ target, port, priority = 0, weight = 0 }: SrvRecord): Buffer {
  const host = writeName(target);
  const record = Buffer.alloc(18);
  // The name of the record is that of the question, which begins at byte 12 of the reply.
  record.writeUInt16BE(0xc00c, 0);
  record.writeUInt16BE(SRV, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt16BE(6 + host.length, 10);
  record.writeUInt16BE(priority, 12);
  record.writeUInt16BE(weight, 14);
  record.writeUInt16BE(port, 16);
  return Buffer.concat([record, host]);
}

function nameAt(message: Buffer, offset: number): string {
  const length = message[offset] ?? 0;
  if (length === 0) return "";
  const label = message.toString("latin1", offset + 1, offset + 1 + length);
  const rest = nameAt(message, offset + 1 + length);
  return rest === "" ? label : `${label}.${rest}`;
}

function writeName(name: string): Buffer {
  const labels = name.split(".").filter((label) => label !== "");
  const parts = labels.map((label) =>
    Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]),
  );
  return Buffer.concat([...parts, Buffer.from([0])]);
}
