import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Session } from "../../../../src/session/session.ts";
import { makeCertificates } from "../../../support/certificates.ts";
import { openFresh } from "../../../support/fresh-session.ts";
import { openFor } from "../../../support/open-session.ts";
import { freshChroot } from "../../../support/shared-server.ts";
import { startTlsServer, type TlsServer } from "../../../support/tls-server.ts";
import { collectUncaught } from "../../../support/uncaught.ts";

/** Around what is copied out of the buffer that answers arrive in, and what keeps it. */
const LENGTHS = [
  0, 1, 100, 4_000, 4_095, 4_096, 8_100, 8_192, 20_000, 32_700, 32_768, 33_000, 65_400, 65_536,
  500_000,
];

let server: TlsServer;
let ca: Buffer;
beforeAll(async () => {
  const certificates = makeCertificates();
  ca = readFileSync(certificates.ca);
  server = await startTlsServer({
    certificate: certificates.server,
    clientCa: certificates.ca,
    clientAuth: "none",
  });
});
afterAll(() => server.stop());

describe.each([
  { line: "a plain line", open: () => openFresh() },
  { line: "TLS", open: async () => openFor(server.secureAddress, { tls: { ca } }) },
])("data that came over $line", ({ open }) => {
  async function withValues(): Promise<{
    session: Session;
    values: Buffer[];
    read: (index: number) => Promise<Buffer>;
  }> {
    const session = await open();
    const values = LENGTHS.map((length, index) => Buffer.alloc(length, index + 1));
    await Promise.all(values.map((value, index) => session.create(`/${index}`, value)));
    onTestFinished(() =>
      Promise.all(values.map((_, index) => session.delete(`/${index}`))).then(() => {}),
    );
    const read = (index: number) =>
      session.getData(`/${index}`).then(({ data }) => data ?? Buffer.alloc(0));
    return { session, values, read };
  }

  test("stays as it is while other answers arrive", async () => {
    const { values, read } = await withValues();
    const kept: { readonly index: number; readonly data: Buffer }[] = [];
    // Each alone, so that its answer begins where the one before has begun; then all in one flight,
    // which end anywhere.
    for (let index = 0; index < values.length; index++)
      kept.push({ index, data: await read(index) });
    kept.push(
      ...(await Promise.all(values.map(async (_, index) => ({ index, data: await read(index) })))),
    );
    for (const { index, data } of kept)
      expect(data.equals(values[index] as Buffer), `${LENGTHS[index]}`).toBe(true);
  });

  test("keeps no more than twice its length alive, or one short buffer", async () => {
    const { values, read } = await withValues();
    for (let time = 0; time < 2; time++) {
      const all = await Promise.all(values.map((_, index) => read(index)));
      for (const data of all)
        expect(data.buffer.byteLength).toBeLessThanOrEqual(Math.max(2 * data.length, 8_192));
    }
  });
});

test("what a listener throws while a long answer is read does not spoil the next ones", async () => {
  const address = await freshChroot();
  const thrown = collectUncaught();
  const lines: string[] = [];
  let isBad = false;
  const session = openFor(address, {
    trace: (line) => {
      lines.push(line);
      if (isBad && line.startsWith("getData")) throw new Error("bad listener");
    },
  });
  for (const length of [10_000, 50_000, 60_000, 100_000]) {
    const path = await session.create(`/${length}`, Buffer.alloc(length, "a"));
    isBad = true;
    void session.getData(path).catch(() => {});
    await expect.poll(() => thrown.splice(0)).toEqual([new Error("bad listener")]);
    isBad = false;
    for (let time = 0; time < 3; time++) {
      expect((await session.getData(path)).data?.equals(Buffer.alloc(length, "a"))).toBe(true);
    }
  }
  expect(lines.filter((line) => line.startsWith("left"))).toEqual([]);
});
