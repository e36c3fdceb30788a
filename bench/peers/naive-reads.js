/**
 * Reads through node-zookeeper-client, all asked for at once: naive-reads.js SERVERS PATH, then
 * `read N` on stdin.
 */
import { once } from "node:events";
import { createInterface } from "node:readline";
import zookeeper from "node-zookeeper-client";

const [servers, path] = process.argv.slice(2);
const client = zookeeper.createClient(servers, { sessionTimeout: 30_000 });
const connected = once(client, "connected");
client.connect();
await connected;

async function read(count) {
  let lost = 0;
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const one = () =>
    new Promise((resolve) => {
      client.getData(path, (error, data) => {
        if (error || data.length !== 100) lost++;
        resolve();
      });
    });
  await Promise.all(Array.from({ length: count }, one));
  const { user, system } = process.cpuUsage(cpu);
  return { seconds: (performance.now() - startedAt) / 1000, cpuMicros: user + system, lost };
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await read(Number(line.split(" ")[1]))));
}
client.close();
