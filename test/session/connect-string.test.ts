import { describe, expect, test } from "vitest";
import { UsageError } from "../../src/errors.ts";
import { formatAddress, parseConnectString } from "../../src/session/connect-string.ts";

describe("parseConnectString", () => {
  test.each([
    ["a", ["a:2181"], ""],
    ["a:1", ["a:1"], ""],
    ["a:65535", ["a:65535"], ""],
    ["a:1,b,c:3", ["a:1", "b:2181", "c:3"], ""],
    [" a:1 , b:2 ", ["a:1", "b:2"], ""],
    ["10.0.0.1:1", ["10.0.0.1:1"], ""],
    ["[::1]:1", ["[::1]:1"], ""],
    ["[::1]", ["[::1]:2181"], ""],
    ["::1", ["[::1]:2181"], ""],
    ["fe80::1:2,[2001:db8::1]:3", ["[fe80::1:2]:2181", "[2001:db8::1]:3"], ""],
    ["a:1/", ["a:1"], ""],
    ["a:1,b:2/app", ["a:1", "b:2"], "/app"],
    ["[::1]:1/app/x,y", ["[::1]:1"], "/app/x,y"],
    ["a/app:1", ["a:2181"], "/app:1"],
    ["unix:/run/zksh/socket,x", ["unix:/run/zksh/socket,x"], ""],
    ["dns-srv://_zookeeper._tcp.a.test", ["dns-srv://_zookeeper._tcp.a.test"], ""],
    ["dns-srv://a.test./app", ["dns-srv://a.test."], "/app"],
  ])("reads %s", (text, addresses, chroot) => {
    const read = parseConnectString(text);
    expect({ addresses: read.servers.map(formatAddress), chroot: read.chroot }).toEqual({
      addresses,
      chroot,
    });
  });

  test("keeps brackets out of the host", () => {
    expect(parseConnectString("[::1]:1").servers).toEqual([{ host: "::1", port: 1 }]);
  });

  test.each([
    ["", "empty host in server list: ''"],
    ["unix:", "bad socket 'unix:'"],
    ["dns-srv://", "bad DNS name in 'dns-srv://'"],
    ["dns-srv://a.test:2181", "bad DNS name in 'dns-srv://a.test:2181'"],
    ["dns-srv://a,b/app", "bad DNS name in 'dns-srv://a,b/app'"],
    ["unix:socket", "bad socket 'unix:socket'"],
    [`unix:/${"x".repeat(120)}`, `bad socket 'unix:/${"x".repeat(120)}'`],
    ["a,,b", "empty host in server list: 'a,,b'"],
    ["a,", "empty host in server list: 'a,'"],
    [":1", "empty host in server list: ':1'"],
    ["/app", "empty host in server list: '/app'"],
    ["a:", "bad port '' in server list: 'a:'"],
    ["[::1]x", "bad address '[::1]x' in server list: '[::1]x'"],
    ["[]:1", "bad address '[]:1' in server list: '[]:1'"],
    ["a:x", "bad port 'x' in server list: 'a:x'"],
    ["a:0", "bad port '0' in server list: 'a:0'"],
    ["a:-1", "bad port '-1' in server list: 'a:-1'"],
    ["a:1e3", "bad port '1e3' in server list: 'a:1e3'"],
    ["a:65536", "bad port '65536' in server list: 'a:65536'"],
    ["[::1]:", "bad port '' in server list: '[::1]:'"],
    ["[::1]:x", "bad port 'x' in server list: '[::1]:x'"],
    ["a/app/", "Path must not end with / character"],
    ["a//app", 'Invalid path string "//app" caused by empty node name specified @1'],
    ["a/../b", 'Invalid path string "/../b" caused by relative paths not allowed @2'],
  ])("refuses '%s'", (text, message) => {
    const parse = () => parseConnectString(text);
    expect(parse).toThrow(UsageError);
    expect(parse).toThrow(expect.objectContaining({ message }));
  });
});
