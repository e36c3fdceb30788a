import { describe, expect, test } from "vitest";
import { readSettingsFile } from "../../../src/config/file/read-settings-file.ts";

const PATH = "/home/ann/.config/zksh/config.json";
const read = (text: string) => readSettingsFile({ text, path: PATH, home: "/home/ann" });
const valuesOf = (text: string) =>
  Object.fromEntries(
    Array.from(read(text).profiles.get("p")?.options.values ?? [], ([name, { value }]) => [
      name,
      value,
    ]),
  );

describe("readSettingsFile", () => {
  test("reads profiles, aliases and the rest", () => {
    const file = read(`{
      // for all
      "profile": "local", "output": "json", "timeout": "5s",
      "pager": false, "history": 10, "undo": "1m",
      "profiles": { "prod": {
        "server": "zk1,zk2", "chroot": "/app/", "label": "PROD", "colour": "red",
        "readOnly": true, "protect": ["/kafka/**"], "confirm": true,
      } },
      "aliases": { "ll": "ls -s" },
    }`);
    expect([...file.defaults.values.keys()]).toEqual(["profile", "output", "timeout"]);
    expect(file.habits).toEqual({ pager: false, history: 10, undo: 1024 ** 2 });
    expect([...file.aliases]).toEqual([["ll", "ls -s"]]);
    const profile = file.profiles.get("prod");
    expect(profile).toMatchObject({
      label: "PROD",
      colour: "red",
      protect: ["/kafka/**"],
      confirms: true,
    });
    expect(profile?.options.values.get("server")?.value).toBe("zk1,zk2/app");
    expect(profile?.options.values.get("read-only")?.value).toBe("true");
  });

  test.each(["", "  \n", "{}", "// nothing\n{}"])("takes %j for no settings", (text) => {
    expect(read(text)).toMatchObject({ profiles: new Map(), aliases: new Map(), habits: {} });
  });

  test("maps keys onto the options of the command line, flat or in objects", () => {
    const expected = { tls: "true", "tls-ca": "/home/ann/ca.pem", "sasl-file": "/etc/sasl" };
    expect(
      valuesOf('{"profiles":{"p":{"tls":{"ca":"~/ca.pem"},"sasl":{"file":"/etc/sasl"}}}}'),
    ).toEqual(expected);
    expect(
      valuesOf('{"profiles":{"p":{"tls":true,"tlsCa":"../../ca.pem","saslFile":"/etc/sasl"}}}'),
    ).toEqual(expected);
    expect(valuesOf('{"profiles":{"p":{"tls":{}}}}')).toEqual({ tls: "true" });
    expect(valuesOf('{"profiles":{"p":{"tls":false}}}')).toEqual({ tls: "false" });
  });

  test("knows a file with secrets from one without", () => {
    expect(read('{"profiles":{"p":{"sasl":"digest:bob"}}}').hasSecrets).toBe(false);
    expect(read('{"profiles":{"p":{"sasl":"digest:bob:pw"}}}').hasSecrets).toBe(true);
  });

  test.each([
    ['{"servr": "x"}', "1:2: unknown setting servr", "did you mean server?"],
    [
      '{"profiles":{"p":{"chrot":"/a"}}}',
      "1:19: unknown setting profiles.p.chrot",
      "did you mean chroot?",
    ],
    [
      '{"profiles":{"p":{"tls":{"cax":"/a"}}}}',
      "1:26: unknown setting profiles.p.tls.cax",
      "did you mean ca?",
    ],
    [
      '{"profile":"x","profiles":{"p":{"output":"json"}}}',
      "1:33: unknown setting profiles.p.output",
      undefined,
    ],
    ['{"yes": true}', "1:2: unknown setting yes", undefined],
    ['{"embedded": true}', "1:2: unknown setting embedded", undefined],
    ['{"auth": "digest:a:b"}', "1:2: unknown setting auth", undefined],
    [
      '{\n "timeout": 30000}',
      "2:13: timeout must be a text in double quotes, not 30000",
      undefined,
    ],
    [
      '{"profiles":{"p":{"readOnly":"yes"}}}',
      "1:30: profiles.p.readOnly must be true or false, not a text",
      undefined,
    ],
    [
      '{"profiles":{"p":{"protect":"/a"}}}',
      "1:29: profiles.p.protect must be a list of paths, not a text",
      undefined,
    ],
    [
      '{"profiles":{"p":{"protect":["a"]}}}',
      '1:30: profiles.p.protect: "a" does not start with /',
      undefined,
    ],
    [
      '{"profiles":{"p":{"colour":"pink"}}}',
      "1:28: profiles.p.colour must be one of red, green, yellow, blue, magenta, cyan, not a text",
      undefined,
    ],
    [
      '{"profiles":{"p":{"label":"a b"}}}',
      "1:27: profiles.p.label is a word of at most 24 characters",
      undefined,
    ],
    [
      '{"profiles":{"p":{"chroot":"/a"}}}',
      "1:19: chroot needs the servers that it belongs to (server)",
      undefined,
    ],
    [
      '{"profiles":{"p":{"server":"h/a","chroot":"/b"}}}',
      "1:34: server has a chroot already",
      undefined,
    ],
    [
      '{"profiles":{"p":{"tlsCa":"/a","tls":{"ca":"/b"}}}}',
      "1:39: profiles.p.tls.ca: --tls-ca is there twice",
      undefined,
    ],
    ['{"profiles":{"p":[]}}', "1:18: profiles.p must be an object { … }, not a list", undefined],
    [
      '{"profiles":{"a b":{}}}',
      '1:14: bad name "a b" in profiles',
      "use letters, digits, - _ and .",
    ],
    ['{"aliases":{"x":""}}', "1:17: aliases.x is empty", undefined],
    [
      '{"aliases":{"x":["ls"]}}',
      "1:17: aliases.x must be a text in double quotes, not a list",
      undefined,
    ],
    [
      '{"history": -1}',
      "1:13: history must be false or a number of lines up to 100000, not -1",
      undefined,
    ],
    ['{"undo": "lots"}', '1:10: undo must be false or a size ("64m"), not a text', undefined],
    ["[]", "1:1: the file must be an object { … }, not a list", undefined],
  ])("refuses %s by name and place", (text, message, hint) => {
    const error = expect.objectContaining({
      name: "UsageError",
      message: `${PATH}:${message}`,
      ...(hint !== undefined && { hint }),
    });
    expect(() => read(text)).toThrow(error);
  });
});
