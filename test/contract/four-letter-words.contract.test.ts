/** What servers say of themselves: the shape of the texts, and the figures that tests can know. */
import { expect, test } from "vitest";
import { Opcode } from "../../src/wire/protocol.ts";
import { eventually } from "../support/eventually.ts";
import { fourLetterWord } from "../support/four-letter-word.ts";
import { onBothServers } from "./on-both-servers.ts";
import { Flags, OPEN, type RawClient, RawConnection } from "./raw-client.ts";

const FIGURES = [
  String.raw`Latency min/avg/max: \d+/\d+\.\d+/\d+\n`,
  String.raw`Received: \d+\nSent: \d+\nConnections: \d+\nOutstanding: \d+\n`,
  String.raw`Zxid: 0x[0-9a-f]+\nMode: standalone\nNode count: \d+\n$`,
].join("");
const VERSION = String.raw`^Zookeeper version: 3\.8\.\d[^\n]*, built on [^\n]+\n`;

/** What others do on a server that is shared is in its figures too, and in what it dumps: a session that has let a lock go
 * is listed without a znode. */
const OWN_SERVER = {};

const hex = (id: bigint) => `0x${id.toString(16)}`;

onBothServers((server) => {
  const ask = (word: string) => fourLetterWord(server.address, word);
  const lineOf = async ({ sessionId }: RawClient) =>
    (await ask("cons")).split("\n").find((line) => line.includes(`sid=${hex(sessionId)},`));

  test.each([
    ["ruok", "imok"],
    ["isro", "rw"],
    ["ruok\n", "imok"],
    ["abcd", ""],
    ["RUOK", ""],
  ])("%j is answered by %j", async (word, answer) => {
    expect(await ask(word)).toBe(answer);
  });

  test("a word in two packets is not answered, and the connection ends", async () => {
    const connection = await RawConnection.to(server.address);
    for (const letter of "ruo") connection.write(Buffer.from(letter));
    await new Promise((resolve) => setTimeout(resolve, 30));
    connection.write(Buffer.from("k"));
    // Too short for a frame, so it arrives as nothing; but the connection ends.
    expect(await connection.untilClosed()).toEqual([]);
  });

  test("srvr has the lines of Apache ZooKeeper", async () => {
    expect(await ask("srvr")).toMatch(new RegExp(VERSION + FIGURES));
  });

  test("srvr tells the last zxid and the number of znodes", async () => {
    const client = await server.fresh();
    const count = async () => Number(/Node count: (\d+)/.exec(await ask("srvr"))?.[1]);
    const before = await count();
    const { zxid } = await client.multi(
      ["/a", "/a/b", "/c"].map((path) => ({ op: "create", path })),
    );
    const text = await ask("srvr");
    expect(BigInt(/Zxid: (0x[0-9a-f]+)/.exec(text)?.[1] ?? 0)).toBeGreaterThanOrEqual(zxid);
    expect((await count()) - before).toBe(3);
  });

  test("stat has the lines of Apache ZooKeeper", async () => {
    await server.open();
    const clients = String.raw`Clients:\n(?: /127\.0\.0\.1:\d+\[\d+\]\(queued=\d+,recved=\d+,sent=\d+\)\n)+\n`;
    expect(await ask("stat")).toMatch(new RegExp(VERSION + clients + FIGURES));
  });

  test("cons has a line for each connection", async () => {
    const client = await server.fresh();
    await client.create("/a");
    await client.getData("/a");
    expect(await ask("cons")).toMatch(/^(?: \/127\.0\.0\.1:\d+\[\d+\]\(.*\)\n)+\n$/);
    // The real server counts an answer after it has sent it.
    await eventually(async () =>
      expect(await lineOf(client)).toMatch(
        /^ \/127\.0\.0\.1:\d+\[1\]\(queued=0,recved=3,sent=3,sid=0x[0-9a-f]+,lop=GETD,est=\d{13},to=10000,lcxid=0x2,lzxid=0x[0-9a-f]+,lresp=\d+,llat=\d+,minlat=\d+,avglat=\d+,maxlat=\d+\)$/,
      ),
    );
  });

  const LAST_OPERATIONS: Readonly<Record<string, (client: RawClient) => Promise<unknown>>> = {
    SESS: async () => {},
    PING: (client) => client.ping(),
    CREA: (client) => client.create("/b", { flags: Flags.container }),
    DELE: (client) => client.delete("/a"),
    EXIS: (client) => client.exists("/no"),
    SETD: (client) => client.setData("/a", ""),
    GETA: (client) => client.getAcl("/a"),
    SETA: (client) => client.setAcl("/a", OPEN),
    GETC: (client) => client.getChildren2("/a"),
    SYNC: (client) => client.sync("/"),
    MULT: (client) => client.multi([{ op: "check", path: "/a" }]),
    MLTR: (client) => client.multi([{ op: "getData", path: "/a" }], Opcode.multiRead),
    SETW: (client) => client.setWatches(0n, [[], [], []]),
    STW2: (client) => client.setWatches(0n, [[], [], [], [], []]),
    GETE: (client) => client.getEphemerals("/"),
    GETACN: (client) => client.getAllChildrenNumber("/"),
    ADDW: (client) => client.addWatch("/a"),
    CHKW: (client) => client.checkWatches("/", 3),
    REMW: (client) => client.removeWatches("/", 3),
    HOMI: (client) => client.whoAmI(),
  };
  test.each(Object.entries(LAST_OPERATIONS))(
    "cons calls the last operation %s",
    async (name, run) => {
      const other = await server.fresh();
      await other.create("/a");
      await other.addWatch("/");
      const client = await server.open(other.chroot);
      if (name === "REMW") await client.addWatch("/");
      await run(client);
      expect(await lineOf(client)).toContain(`,lop=${name},`);
    },
  );

  test("dump lists sessions, ephemerals and connections", async () => {
    const client = await server.fresh();
    await client.create("/e", { flags: Flags.ephemeral });
    const text = await ask("dump");
    const date = String.raw`\w{3} \w{3} \d{2} \d{2}:\d{2}:\d{2} \w+ \d{4}`;
    expect(text).toMatch(
      new RegExp(
        [
          String.raw`^SessionTracker dump:\nSession Sets \(\d+\)/\(\d+\):\n`,
          String.raw`(?:\d+ expire at ${date}:\n(?:\t0x[0-9a-f]+\n)*)+`,
          String.raw`ephemeral nodes dump:\nSessions with Ephemerals \(\d+\):\n(?:0x[0-9a-f]+:\n(?:\t/.*\n)+)+`,
          String.raw`Connections dump:\nConnections Sets \(\d+\)/\(\d+\):\n`,
          String.raw`(?:\d+ expire at ${date}:\n(?:\tip: /127\.0\.0\.1:\d+ sessionId: 0x[0-9a-f]+\n)*)+$`,
        ].join(""),
      ),
    );
    expect(text).toContain(`${hex(client.sessionId)}:\n\t${client.full("/e")}\n`);
  });

  test("mntr counts znodes, ephemerals and watches", async () => {
    const client = await server.fresh();
    await client.exists("/a", true);
    await client.create("/e", { flags: Flags.ephemeral });
    const lines = (await ask("mntr")).split("\n");
    expect(lines.pop()).toBe("");
    const figures = new Map(lines.map((line) => line.split("\t") as [string, string]));
    expect(figures.get("zk_version")).toMatch(/^3\.8\.\d.*, built on .*/);
    expect(figures.get("zk_server_state")).toBe("standalone");
    const atLeast = {
      zk_avg_latency: 0,
      zk_min_latency: 0,
      zk_max_latency: 0,
      zk_packets_received: 3,
      zk_packets_sent: 3,
      zk_num_alive_connections: 2,
      zk_outstanding_requests: 0,
      zk_znode_count: 5,
      zk_watch_count: 1,
      zk_ephemerals_count: 1,
      zk_approximate_data_size: 50,
      zk_global_sessions: 1,
      zk_local_sessions: 0,
      zk_uptime: 1,
    };
    for (const [key, least] of Object.entries(atLeast)) {
      expect(Number(figures.get(key)), key).toBeGreaterThanOrEqual(least);
    }
  });

  test("conf has the port and the session timeouts", async () => {
    const text = await ask("conf");
    expect(text).toContain(`clientPort=${server.address.split(":")[1]}\n`);
    expect(text).toContain("tickTime=500\n");
    expect(text).toContain("minSessionTimeout=1000\nmaxSessionTimeout=60000\n");
  });

  test("envi names the release and the host", async () => {
    expect(await ask("envi")).toMatch(/^Environment:\nzookeeper\.version=3\.8.*\nhost\.name=.*\n/);
  });

  test("wchs, wchp and wchc list the watches", async () => {
    const client = await server.fresh();
    await client.exists("/a", true);
    expect(await ask("wchs")).toMatch(/^\d+ connections watching \d+ paths\nTotal watches:\d+\n$/);
    expect(await ask("wchp")).toContain(`${client.full("/a")}\n\t${hex(client.sessionId)}\n`);
    expect(await ask("wchc")).toContain(`${hex(client.sessionId)}\n\t${client.full("/a")}\n`);
  });

  test("a word in the middle of a session is no word", async () => {
    const client = await server.open();
    client.connection.write(Buffer.from("ruok"));
    expect(await client.connection.untilClosed()).toEqual([]);
  });
}, OWN_SERVER);
