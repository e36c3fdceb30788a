import { ChildProcess } from "node:child_process";
import { Server, Socket } from "node:net";

// The shell that removes temporary directories when a worker has ended (tracked-process.ts).
const CLEANER = "/bin/sh";

/**
 * Runs before each unit test file: what starts or reaches a server, or another program, fails, so
 * that `npm run test:unit` stays what it promises.
 */
Server.prototype.listen = () => refuse("listens on a socket");
Socket.prototype.connect = () => refuse("connects to a socket");

const child = ChildProcess.prototype as unknown as { spawn(options: { file: string }): unknown };
const spawn = child.spawn;
child.spawn = function (options) {
  if (options.file !== CLEANER) refuse(`starts ${options.file}`);
  return spawn.call(this, options);
};

function refuse(what: string): never {
  throw new Error(
    `this unit test ${what}: name its file *.embedded.test.ts, or *.integration.test.ts when it needs ZooKeeper`,
  );
}
