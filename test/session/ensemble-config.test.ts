import { describe, expect, test } from "vitest";
import { membersOf } from "../../src/session/ensemble-config.ts";

const read = (...lines: string[]) =>
  membersOf(lines.join("\n")).map(({ host, port, isObserver }) => [host, port, isObserver]);

describe("the members of an ensemble's configuration", () => {
  test("are found at the client address of their line", () => {
    expect(
      read(
        "server.1=a:2888:3888:participant;b:2181",
        "server.2=c:2888:3888;[::1]:2182",
        "version=1",
      ),
    ).toEqual([
      ["b", 2181, false],
      ["::1", 2182, false],
    ]);
  });

  test.each([["2181"], ["0.0.0.0:2181"], ["[::]:2181"], [":2181"]])(
    "an address for all interfaces (%s) is the peer's host",
    (client) => {
      expect(read(`server.1=a:2888:3888;${client}`)).toEqual([["a", 2181, false]]);
      expect(read(`server.1=[fe80::1]:2888:3888;${client}`)).toEqual([["fe80::1", 2181, false]]);
    },
  );

  test("have no port where each server has its own clientPort", () => {
    expect(read("server.1=a:2888:3888:participant")).toEqual([["a", undefined, false]]);
  });

  test("may be observers, and have several addresses among themselves", () => {
    expect(read("server.7=a:2888:3888|b:2888:3888:observer;2181")).toEqual([["a", 2181, true]]);
  });

  test.each([
    [""],
    ["server.1="],
    ["server.x=a:2888:3888;2181"],
    ["server.1=a"],
    ["group.1=1:2:3"],
    [`server.1=${"a".repeat(2_000)}:2888:3888`],
  ])("a line that names none is left out: %s", (line) => {
    expect(read(line)).toEqual([]);
  });
});
