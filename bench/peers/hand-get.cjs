/** The least a program in node can do to read a znode: prepared bytes over a socket. hand-get.cjs HOST:PORT PATH */
const { writeSync } = require("node:fs");
const { connect } = require("node:net");

const [address, path] = process.argv.slice(2);
const [host, port] = address.split(":");
const int = (value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const frame = (...parts) => {
  const body = Buffer.concat(parts);
  return Buffer.concat([int(body.length), body]);
};
const GET_DATA = 4;
const CLOSE_SESSION = -11;
const handshake = frame(
  int(0),
  Buffer.alloc(8),
  int(10_000),
  Buffer.alloc(8),
  int(16),
  Buffer.alloc(16),
  Buffer.alloc(1),
);
const read = frame(int(1), int(GET_DATA), int(path.length), Buffer.from(path), Buffer.alloc(1));

const socket = connect(Number(port), host);
socket.write(Buffer.concat([handshake, read, frame(int(2), int(CLOSE_SESSION))]));
const chunks = [];
socket.on("data", (chunk) => chunks.push(chunk));
socket.on("end", () => {
  const received = Buffer.concat(chunks);
  // Behind the handshake's answer, and behind length, xid, zxid and error of the reply.
  const data = 4 + received.readInt32BE(0) + 4 + 16;
  writeSync(1, received.subarray(data + 4, data + 4 + received.readInt32BE(data)));
  process.exit();
});
