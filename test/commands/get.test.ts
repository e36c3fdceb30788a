import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { PermissionError } from "../../src/errors.ts";
import {
  field,
  hbaseMetadata,
  javaString,
  message,
  PBUF,
  varintField,
} from "../text/stored/encode.ts";
import { expected, outcome, type Row, run } from "./run.ts";

process.env.TZ = "UTC";

const stat = (time: string, length: number) => `\
cZxid = 0x2
ctime = ${time}
mZxid = 0x2
mtime = ${time}
pZxid = 0x2
cversion = 0
dataVersion = 0
aclVersion = 0
ephemeralOwner = 0x0
dataLength = ${length}
numChildren = 0
`;
const ISO = "2026-11-16T04:42:11.000Z";
const JAVA = "Mon Nov 16 04:42:11 UTC 2026";
const BINARY = Buffer.from([0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x00, 0x01, 0xff]);
const HBASE = message(
  hbaseMetadata("master:16000"),
  PBUF,
  field(1, message(field(1, "host\n"), varintField(2, -1))),
  field(3, Buffer.from([0x00, 0xff])),
);

const rows: Row[] = [
  {
    name: "writes the exact bytes to a pipe",
    argv: ["get", "/a"],
    given: { "/a": "x\r\n y" },
    stdout: "x\r\n y",
  },
  {
    name: "adds a line end on a terminal",
    argv: ["get", "/a"],
    given: { "/a": "x" },
    tty: true,
    stdout: "x\n",
  },
  {
    name: "adds no second line end",
    argv: ["get", "/a"],
    given: { "/a": "x\n" },
    tty: true,
    stdout: "x\n",
  },
  {
    name: "says on a terminal that there is no data",
    argv: ["get", "/a"],
    given: { "/a": null },
    tty: true,
    stdout: "(no data)\n",
  },
  {
    name: "says the same of empty data",
    argv: ["get", "/a"],
    given: { "/a": "" },
    tty: true,
    stdout: "(no data)\n",
  },
  {
    name: "prints no note about missing data with -q",
    argv: ["-q", "get", "/a"],
    given: { "/a": "" },
    tty: true,
    stdout: "",
  },
  {
    name: "writes nothing for no data to a pipe",
    argv: ["get", "/a"],
    given: { "/a": null },
    stdout: "",
  },
  {
    name: "indents JSON on a terminal",
    argv: ["get", "/a"],
    given: { "/a": '{"n":12345678901234567890,"l":[]}' },
    tty: true,
    stdout: '{\n  "n": 12345678901234567890,\n  "l": []\n}\n',
  },
  {
    name: "shows binary data as a hex dump on a terminal",
    argv: ["get", "/a"],
    given: { "/a": BINARY },
    tty: true,
    stdout: "00000000  68 65 6c 6c 6f 00 01 ff                           |hello...|\n",
  },
  {
    name: "never sends control characters to a terminal",
    argv: ["get", "/a"],
    given: { "/a": "\u001b[2Jgone\u009b1m\u202e" },
    tty: true,
    stdout: "\\x1b[2Jgone\\x9b1m\\u202e\n",
  },
  {
    name: "-s adds the stat",
    argv: ["get", "-s", "/a"],
    given: { "/a": "x" },
    stdout: `x\n${stat(ISO, 1)}`,
  },
  {
    name: "takes options after the path",
    argv: ["get", "/a", "-s"],
    given: { "/a": "x" },
    stdout: `x\n${stat(ISO, 1)}`,
  },
  {
    name: "-b writes base64",
    argv: ["get", "-b", "/a"],
    given: { "/a": BINARY },
    stdout: "aGVsbG8AAf8=\n",
  },
  {
    name: "-x wins over -b",
    argv: ["get", "-bx", "/a"],
    given: { "/a": "hi" },
    stdout: "00000000  68 69                                             |hi|\n",
  },
  {
    name: "takes a path relative to the root",
    argv: ["get", "a/./b"],
    given: { "/a": "", "/a/b": "x" },
    stdout: "x",
  },
  {
    name: "JSON has text and stat",
    argv: ["get", "/a", "--json"],
    given: { "/a": "é" },
    stdout:
      '{"path":"/a","data":"é","encoding":"utf8","stat":{"czxid":"0x2","mzxid":"0x2","pzxid":"0x2",' +
      '"ctime":"2026-11-16T04:42:11.000Z","ctimeMs":1794804131000,"mtime":"2026-11-16T04:42:11.000Z",' +
      '"mtimeMs":1794804131000,"version":0,"cversion":0,"aversion":0,"ephemeralOwner":"0x0","dataLength":2,"numChildren":0}}\n',
  },
  {
    name: "writes the exact bytes of several to a pipe, one after another",
    argv: ["get", "/a", "/b"],
    given: { "/a": "x", "/b": "y\n" },
    stdout: "xy\n",
  },
  {
    name: "puts the path above each of several on a terminal",
    argv: ["get", "/a", "/b\u202e"],
    given: { "/a": "x", "/b\u202e": "y\n" },
    tty: true,
    stdout: "/a\nx\n/b\\u202e\ny\n",
  },
  {
    name: "prints the others if one is missing, and ends with 8",
    argv: ["get", "/a", "/x", "/b"],
    given: { "/a": "x", "/b": "y" },
    stdout: "xy",
    stderr: "error: no such znode: /x (NoNode)\nerror: 1 of 3 znodes could not be read\n",
    exit: 8,
  },
  {
    name: "has exit code 3 where all of several are missing",
    argv: ["get", "/x", "/y"],
    stderr: "error: no such znode: /x (NoNode)\nerror: no such znode: /y (NoNode)\n",
    exit: 3,
  },
  {
    name: "unpacks gzip on a terminal, and names it",
    argv: ["get", "/a"],
    given: { "/a": gzipSync('{"n":1}') },
    tty: true,
    stdout: 'gzip, 7 bytes of JSON inside\n{\n  "n": 1\n}\n',
  },
  {
    name: "writes gzip to a pipe as it is stored",
    argv: ["get", "/a"],
    given: { "/a": javaString("x") },
    stdout: javaString("x").toString(),
  },
  {
    name: "reads a Java-serialised string on a terminal, and escapes its controls",
    argv: ["get", "/a"],
    given: { "/a": javaString("a\u001b[2J") },
    tty: true,
    stdout: "Java-serialised string\na\\x1b[2J\n",
  },
  {
    name: "shows the fields of what HBase stores on a terminal",
    argv: ["get", "/a"],
    given: { "/a": HBASE },
    tty: true,
    stdout:
      'protobuf (PBUF) written by master:16000\n1 message\n  1 text "host\\n"\n' +
      "  2 varint 18446744073709551615 (-1)\n3 bytes 00ff\n",
  },
  {
    name: "shows gzip that is cut off as a hex dump on a terminal",
    argv: ["get", "/a"],
    given: { "/a": gzipSync("x").subarray(0, 3) },
    tty: true,
    stdout: "00000000  1f 8b 08                                          |...|\n",
  },
  {
    name: "--view writes the view to a pipe, without its name",
    argv: ["get", "--view", "gzip", "/a"],
    given: { "/a": gzipSync("hello") },
    stdout: "hello\n",
  },
  {
    name: "--view hex shows text as a hex dump",
    argv: ["get", "--view", "hex", "/a"],
    given: { "/a": "hi" },
    stdout: "00000000  68 69                                             |hi|\n",
  },
  {
    name: "--view text leaves JSON on its line",
    argv: ["get", "--view", "text", "/a"],
    given: { "/a": '{"n":1}' },
    stdout: '{"n":1}\n',
  },
  {
    name: "--view json indents JSON in a pipe",
    argv: ["get", "--view", "json", "/a"],
    given: { "/a": '{"n":1}' },
    stdout: '{\n  "n": 1\n}\n',
  },
  {
    name: "--view protobuf reads a message without PBUF",
    argv: ["get", "--view", "protobuf", "/a"],
    given: { "/a": varintField(1, 7) },
    stdout: "1 varint 7\n",
  },
  {
    name: "--view refuses data of another kind with exit code 1",
    argv: ["get", "--view", "gzip", "/a"],
    given: { "/a": "{}" },
    stderr: "error: /a is not gzip: the data begins with 7b 7d\n",
    exit: 1,
  },
  {
    name: "--view of several shows the others if one is of another kind",
    argv: ["get", "--view", "gzip", "/a", "/b"],
    given: { "/a": "{", "/b": gzipSync("[]") },
    stdout: "[]\n",
    stderr:
      "error: /a is not gzip: the data begins with 7b\n" +
      "error: 1 of 2 znodes could not be read\n",
    exit: 8,
  },
  {
    name: "--view and -x exclude each other",
    argv: ["get", "--view", "text", "-x", "/a"],
    given: { "/a": "x" },
    stderr: "error: --view and -b or -x exclude each other\n",
    exit: 2,
  },
  {
    name: "names the views where one does not exist",
    argv: ["get", "--view", "xml", "/a"],
    stderr: "error: unknown view 'xml'\n  use one of auto, text, json, hex, gzip, java, protobuf\n",
    exit: 2,
  },
  {
    name: "reports a missing znode with exit code 3",
    argv: ["get", "/a"],
    stderr: "error: no such znode: /a (NoNode)\n",
    exit: 3,
  },
  {
    name: "reports a missing znode as JSON",
    argv: ["--json", "get", "/a"],
    stderr:
      '{"error":{"reason":"no-node","message":"no such znode: /a (NoNode)","exitCode":3,"code":-101,"path":"/a"}}\n',
    exit: 3,
  },
  {
    name: "says how to authenticate this session",
    argv: ["get", "/a"],
    failures: {
      "/a": new PermissionError("no-auth", "not permitted: /a (NoAuth)", {
        code: -102,
        path: "/a",
      }),
    },
    stderr:
      "error: not permitted: /a (NoAuth)\n  authenticate with --auth SCHEME:CRED, or addauth at the prompt, or log in with --sasl digest:USER or --sasl gssapi; getAcl shows the permissions\n",
    exit: 4,
  },
  {
    name: "refuses to watch as a one-shot",
    argv: ["get", "-w", "/a"],
    given: { "/a": "x" },
    stderr:
      "error: a one-shot command ends before a watch could fire\n  -w works only inside the shell; watch PATH keeps running\n",
    exit: 2,
  },
  {
    name: "refuses a bad path with an empty name in it",
    argv: ["get", "/a//b"],
    stderr: "error: /a//b: a path cannot contain //\n",
    exit: 2,
  },
];

const zkcli: Row[] = [
  {
    name: "data and line end",
    argv: ["-o", "zkcli", "get", "/a"],
    given: { "/a": "x" },
    stdout: "x\n",
  },
  {
    name: "the word null for no data",
    argv: ["-o", "zkcli", "get", "/a"],
    given: { "/a": null },
    stdout: "null\n",
  },
  {
    name: "null in base64 too",
    argv: ["-o", "zkcli", "get", "-b", "/a"],
    given: { "/a": null },
    stdout: "bnVsbA==\n",
  },
  {
    name: "an empty line for no bytes",
    argv: ["-o", "zkcli", "get", "-x", "/a"],
    given: { "/a": "" },
    stdout: "\n",
  },
  {
    name: "the stat with Java's times",
    argv: ["-o", "zkcli", "get", "-s", "/a"],
    given: { "/a": "x" },
    stdout: `x\n${stat(JAVA, 1)}`,
  },
  {
    name: "the framed hex dump",
    argv: ["-o", "zkcli", "get", "-x", "/a"],
    given: { "/a": BINARY },
    stdout: `\
         +-------------------------------------------------+
         |  0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f |
+--------+-------------------------------------------------+----------------+
|00000000| 68 65 6c 6c 6f 00 01 ff                         |hello...        |
+--------+-------------------------------------------------+----------------+
`,
  },
  {
    name: "a missing znode in zkCli's words",
    argv: ["-o", "zkcli", "get", "/a"],
    stderr: "Node does not exist: /a\n",
    exit: 3,
  },
  {
    name: "too few words: the usage line",
    argv: ["-o", "zkcli", "get"],
    stderr: "get [-s] [-w] path\n",
    exit: 2,
  },
];

describe("get", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test.each(zkcli)("writes as zkCli: $name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test("--view adds the view to the object of JSON", async () => {
    const { stdout } = await run(["--json", "get", "--view", "auto", "/a"], {
      given: { "/a": HBASE },
    });
    const nested = [
      { field: 1, wire: "text", value: "host\n" },
      { field: 2, wire: "varint", value: "18446744073709551615" },
    ];
    expect(JSON.parse(stdout).view).toEqual({
      kind: "protobuf",
      hasMagic: true,
      writer: "master:16000",
      fields: [
        { field: 1, wire: "message", fields: nested },
        { field: 3, wire: "bytes", value: "00ff" },
      ],
    });
  });

  test("keeps bytes that are no text", async () => {
    const { bytes } = await run(["get", "/a"], { given: { "/a": BINARY } });
    expect(bytes).toEqual(BINARY);
  });

  test("JSON has one object for each of several", async () => {
    const { stdout } = await run(["--json", "get", "/a", "/b"], {
      given: { "/a": "x", "/b": "y" },
    });
    const objects = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(objects.map(({ path, data }) => [path, data])).toEqual([
      ["/a", "x"],
      ["/b", "y"],
    ]);
  });

  test("says goodbye in the same flight as its request", async () => {
    const { session } = await run(["get", "/a"], { given: { "/a": "x" } });
    expect(session.asked.slice(0, 2)).toEqual(["getData /a", "close"]);
  });
});
