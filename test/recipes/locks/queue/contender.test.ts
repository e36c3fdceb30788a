import { describe, expect, test } from "vitest";
import {
  blocks,
  type Claim,
  type Contender,
  compareSequences,
  incompatibleKinds,
  parseContender,
  parseContenders,
} from "../../../../src/recipes/locks/queue/contender.ts";

const UUID = "0f8fad5b-d9cb-469f-a165-70867728950e";
const HEX = "0f8fad5bd9cb469fa16570867728950e";

describe("names of tickets", () => {
  test.each<[string, Omit<Contender, "name">]>([
    [`_c_${UUID}-lock-0000000007`, { claim: "lock", family: "curator", sequence: 7, uuid: UUID }],
    [`_c_${HEX}-lock-0000000007`, { claim: "lock", family: "curator", sequence: 7, uuid: HEX }],
    [
      `_c_${UUID}-__WRIT__0000000001`,
      { claim: "write", family: "curator", sequence: 1, uuid: UUID },
    ],
    [
      `_c_${UUID}-__READ__0000000002`,
      { claim: "read", family: "curator", sequence: 2, uuid: UUID },
    ],
    [`_c_${UUID}-lease-0000000003`, { claim: "lease", family: "curator", sequence: 3, uuid: UUID }],
    [`_c_${UUID}-latch-0000000004`, { claim: "latch", family: "curator", sequence: 4, uuid: UUID }],
    [`${HEX}__lock__0000000005`, { claim: "lock", family: "kazoo", sequence: 5, uuid: HEX }],
    [`${HEX}__rlock__0000000006`, { claim: "read", family: "kazoo", sequence: 6, uuid: HEX }],
    [`_c_${UUID}-__lock__0000000008`, { claim: "lock", family: "kazoo", sequence: 8, uuid: UUID }],
    ["x-72057594037927936-0000000009", { claim: "lock", family: "writelock", sequence: 9 }],
    ["x--72057594037927936-0000000009", { claim: "lock", family: "writelock", sequence: 9 }],
    ["lock-72057594037927936-0000000010", { claim: "lock", family: "textbook", sequence: 10 }],
    ["lock-0x100018f3a7c0000-0000000010", { claim: "lock", family: "textbook", sequence: 10 }],
    [`${UUID}-lock-0000000011`, { claim: "lock", family: "textbook", sequence: 11 }],
    ["lock-0000000012", { claim: "lock", family: "textbook", sequence: 12 }],
    ["read-0000000013", { claim: "read", family: "textbook", sequence: 13 }],
    ["write-0000000014", { claim: "write", family: "textbook", sequence: 14 }],
    [
      `_c_${UUID}-lock-2147483647`,
      { claim: "lock", family: "curator", sequence: 2147483647, uuid: UUID },
    ],
    [
      `_c_${UUID}-lock--2147483648`,
      { claim: "lock", family: "curator", sequence: -2147483648, uuid: UUID },
    ],
    [`_c_${UUID}-lock--000000005`, { claim: "lock", family: "curator", sequence: -5, uuid: UUID }],
    [
      `${HEX}__lock__-2147483648`,
      { claim: "lock", family: "kazoo", sequence: -2147483648, uuid: HEX },
    ],
    [`${HEX}__rlock__-000000005`, { claim: "read", family: "kazoo", sequence: -5, uuid: HEX }],
    [
      "x-72057594037927936--2147483648",
      { claim: "lock", family: "writelock", sequence: -2147483648 },
    ],
    ["x-72057594037927936--000000005", { claim: "lock", family: "writelock", sequence: -5 }],
    [
      "lock-72057594037927936--2147483648",
      { claim: "lock", family: "textbook", sequence: -2147483648 },
    ],
    [
      `_c_${UUID}-__READ__-2147483648`,
      { claim: "read", family: "curator", sequence: -2147483648, uuid: UUID },
    ],
  ])("%s is parsed", (name, expected) => {
    expect(parseContender(name)).toEqual({ name, ...expected });
  });

  test.each([
    "config",
    HEX,
    "lock-",
    "lock-1",
    "lock-000000001",
    "block",
    "entry-100-0000000001",
    `_c_${UUID}-0000000001`,
    "x-y-0000000001",
    "locks",
    "leases",
  ])("%s is nobody's ticket", (name) => {
    expect(parseContender(name)).toBeUndefined();
  });
});

describe("tickets are ordered", () => {
  const lock = (number: string) => `_c_${UUID}-lock-${number}`;

  test("by number, whatever the prefix is", () => {
    const names = [
      lock("0000000010"),
      `${HEX}__lock__0000000009`,
      "x-5-0000000002",
      lock("0000000003"),
    ];
    expect(parseContenders([...names, "config"]).map(({ sequence }) => sequence)).toEqual([
      2, 3, 9, 10,
    ]);
  });

  test("beyond the number where the counter wraps", () => {
    const names = [
      lock("-2147483647"),
      lock("2147483647"),
      lock("-2147483648"),
      lock("2147483646"),
    ];
    const numbers = [2147483646, 2147483647, -2147483648, -2147483647];
    expect(parseContenders(names).map(({ sequence }) => sequence)).toEqual(numbers);
    expect(compareSequences(-1, 0)).toBeLessThan(0);
    expect(compareSequences(2147483647, -2147483648)).toBeLessThan(0);
  });
});

describe("who waits for whom", () => {
  const NAMES = {
    lock: `_c_${UUID}-lock-0000000001`,
    kazoo: `${HEX}__lock__0000000001`,
    kazooRead: `${HEX}__rlock__0000000001`,
    writelock: "x-5-0000000001",
    write: `_c_${UUID}-__WRIT__0000000001`,
    read: `_c_${UUID}-__READ__0000000001`,
    lease: `_c_${UUID}-lease-0000000001`,
    latch: `_c_${UUID}-latch-0000000001`,
  } as const;

  test.each<[Claim, (keyof typeof NAMES)[]]>([
    ["lock", ["lock", "kazoo", "kazooRead", "writelock", "write", "read"]],
    ["write", ["lock", "kazoo", "kazooRead", "writelock", "write", "read"]],
    ["read", ["lock", "kazoo", "writelock", "write"]],
    ["lease", ["lease"]],
    ["latch", ["latch"]],
  ])("%s waits for %j and for nobody else", (claim, expected) => {
    const waitsFor = Object.entries(NAMES).filter(([, name]) =>
      blocks(claim, parseContender(name) as Contender),
    );
    expect(waitsFor.map(([key]) => key)).toEqual(expected);
  });
});

describe("incompatible tickets", () => {
  const of = (...names: string[]) => incompatibleKinds(parseContenders(names));

  test("tickets of one family are compatible", () => {
    expect(of(`_c_${UUID}-lock-0000000001`, `_c_${HEX}-lock-0000000002`)).toEqual([]);
    expect(of(`_c_${UUID}-__READ__0000000001`, `_c_${HEX}-__WRIT__0000000002`)).toEqual([]);
    expect(of(`${HEX}__lock__0000000001`, `${HEX.replace("0", "1")}__rlock__0000000002`)).toEqual(
      [],
    );
    expect(of()).toEqual([]);
  });

  test("two kinds that do not see each other are named", () => {
    expect(of(`_c_${UUID}-lock-0000000001`, `${HEX}__lock__0000000002`)).toEqual([
      "Curator locks",
      "kazoo locks",
    ]);
    expect(of(`_c_${UUID}-lock-0000000001`, `_c_${HEX}-__WRIT__0000000002`)).toEqual([
      "Curator locks",
      "Curator read/write locks",
    ]);
    expect(of(`_c_${UUID}-lock-0000000001`, "x-5-0000000002")).toEqual([
      "Curator locks",
      "WriteLock locks",
    ]);
  });

  test("ours respect locks and read/write locks alike", () => {
    const mixed = [`_c_${UUID}-lock-0000000001`, `_c_${HEX}-__WRIT__0000000002`];
    const sorts = (ours: readonly string[], more: readonly string[] = []) =>
      incompatibleKinds(parseContenders([...mixed, ...more]), [], new Set(ours));
    expect(sorts(mixed)).toEqual([]);
    expect(sorts(mixed.slice(0, 1))).toEqual(["Curator locks", "Curator read/write locks"]);
    expect(sorts(mixed, [`${HEX.replace("0", "1")}__lock__0000000003`])).toEqual([
      "Curator locks",
      "kazoo locks",
    ]);
  });

  test("a client with tickets of both families is compatible with both", () => {
    const both = [`_c_${UUID}-lock-0000000001`, `_c_${UUID}-__lock__0000000002`];
    expect(of(...both)).toEqual([]);
    expect(of(...both, `${HEX}__lock__0000000003`)).toEqual([]);
  });
});
