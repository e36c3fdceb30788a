/**
 * Reads through zksh's session, all asked for at once: zksh-reads.js SERVERS PATH, then `read N` on
 * stdin.
 */
import { createInterface } from "node:readline";
import { openSession, parseConnectString } from "../../dist/index.js";

const [servers, path] = process.argv.slice(2);
const session = openSession({ ...parseConnectString(servers), timeoutMs: 30_000 });
await session.connected();

async function read(count) {
  let lost = 0;
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const one = () =>
    session.getData(path).then(
      ({ data }) => data?.length !== 100 && lost++,
      () => lost++,
    );
  await Promise.all(Array.from({ length: count }, one));
  const { user, system } = process.cpuUsage(cpu);
  return { seconds: (performance.now() - startedAt) / 1000, cpuMicros: user + system, lost };
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await read(Number(line.split(" ")[1]))));
}
await session.close();
