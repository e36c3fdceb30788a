/**
 * The least a program in node can do to take and give back a lock that nobody else wants: prepared
 * bytes over a socket, the requests that zksh sends while nobody else writes. It asks nobody, finds
 * out nothing, and could not cope with a lost reply. hand-locks.js HOST:PORT PATH, then `cycles N`
 * on stdin.
 */
import { connect } from "node:net";
import { createInterface } from "node:readline";

const [address, path] = process.argv.slice(2);
const [host, port] = address.split(":");

const int = (value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const text = (value) => Buffer.concat([int(Buffer.byteLength(value)), Buffer.from(value)]);
const frame = (...parts) => {
  const body = Buffer.concat(parts);
  return Buffer.concat([int(body.length), body]);
};
const CREATE = 1;
const DELETE = 2;
const CLOSE_SESSION = -11;
const EPHEMERAL_SEQUENTIAL = 3;
const openAcl = Buffer.concat([int(1), int(31), text("world"), text("anyone")]);
const create = (node, data, flags) =>
  frame(int(1), int(CREATE), text(node), text(data), openAcl, int(flags));
const handshake = frame(
  int(0),
  Buffer.alloc(8),
  int(60_000),
  Buffer.alloc(8),
  text("\0".repeat(16)),
  Buffer.alloc(1),
);

const socket = connect(Number(port), host).setNoDelay();
let received = Buffer.alloc(0);
let missing = 0;
let answer;
let answered = () => {};

/** Sends requests; gives the first answer when all are there. */
function ask(bytes, answers) {
  missing = answers;
  answer = undefined;
  return new Promise((resolve) => {
    answered = resolve;
    socket.write(bytes);
  });
}

socket.on("data", (chunk) => {
  received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
  while (received.length >= 4 && received.length >= 4 + received.readInt32BE(0)) {
    const end = 4 + received.readInt32BE(0);
    answer ??= received.subarray(4, end);
    received = received.subarray(end);
    missing -= 1;
  }
  if (missing <= 0) answered(answer);
});

const HEADER = 16;
const pathIn = (reply) => reply.subarray(HEADER + 4, HEADER + 4 + reply.readInt32BE(HEADER));
const now = () => Number(process.hrtime.bigint()) / 1000;
// About as long as what zksh says of itself in its ticket.
const acquire = create(`${path}/_c_${"0".repeat(36)}-lock-`, "x".repeat(120), EPHEMERAL_SEQUENTIAL);

async function cycles(count) {
  const acquires = [];
  const begun = now();
  for (let index = 0; index < count; index++) {
    const at = now();
    const node = pathIn(await ask(acquire, 1));
    acquires.push(now() - at);
    await ask(frame(int(1), int(DELETE), int(node.length), node, int(-1)), 1);
  }
  return { acquires, seconds: (now() - begun) / 1e6 };
}

await ask(handshake, 1);
const [, ...names] = path.split("/");
const parents = names.map((_, index) => `/${names.slice(0, index + 1).join("/")}`);
await ask(Buffer.concat(parents.map((parent) => create(parent, "", 0))), parents.length);
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await cycles(Number(line.split(" ")[1]))));
}
await ask(frame(int(1), int(CLOSE_SESSION)), 1);
socket.destroy();
