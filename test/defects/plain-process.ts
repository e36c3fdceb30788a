import { createInterface } from "node:readline";
import zookeeper from "node-zookeeper-client";

// Runs alone, as a process: does with the plain package what stdin says, line by line, and tells on
// stdout what comes of it, also what the package throws at nobody in particular. A real program
// would be dead by then.

const [connectString = "", sessionTimeout = "10000"] = process.argv.slice(2);
const client = zookeeper.createClient(connectString, {
  sessionTimeout: Number(sessionTimeout),
  spinDelay: 20,
});

const tell = (line: string) => process.stdout.write(`${line}\n`);
const throwing = (what: string) => () => {
  tell(what);
  throw new Error(`the ${what} threw`);
};

const commands: Record<string, (path: string) => void> = {
  connect: () => client.connect(),
  close: () => client.close(),
  exists: (path) => client.exists(path, (error) => tell(`callback ${path} ${error?.code ?? 0}`)),
  existsThrowing: (path) => client.exists(path, throwing(`callback ${path}`)),
  watchThrowing: (path) =>
    client.exists(path, throwing(`watcher ${path}`), () => tell(`watching ${path}`)),
};

process.on("uncaughtException", (error) => tell(`uncaught ${error.name}: ${error.message}`));
client.on("state", ({ name }: { name: string }) => tell(`state ${name}`));
createInterface({ input: process.stdin }).on("line", (line) => {
  const [command = "", path = ""] = line.split(" ");
  commands[command]?.(path);
});
