import { expect, test } from "vitest";
import type { Party } from "../../src/recipes/locks/holder-record.ts";
import { nameParty, namesOf, nameWithReason, shortName } from "../../src/text/party-name.ts";

const ticket = {
  node: "/deploy/lock-0000000003",
  session: -0x10n,
  token: 17n,
  queuedAt: 0,
  isAskedToYield: false,
};
const ours: Party = {
  ...ticket,
  client: "zksh/0.1.0",
  who: "ann@web3",
  host: "web3",
  pid: 4711,
  cmd: "deploy.sh",
  why: "release 42",
};
const SESSION = "session 0xfffffffffffffff0";

test.each([
  { name: "ann@web3 pid 4711 deploy.sh", party: ours },
  { name: "ann@web3 pid 4711 deploy.sh", party: { ...ours, who: "ann" } },
  { name: "ann@web3 pid 4711", party: { ...ours, cmd: undefined } },
  { name: "10.0.0.7 (Curator)", party: { ...ticket, client: "Curator", note: "10.0.0.7" } },
  { name: "web3 (kazoo)", party: { ...ticket, client: "kazoo", host: "web3" } },
  { name: "x", party: { ...ticket, client: "unknown", note: "x" } },
  { name: `a Curator client in ${SESSION}`, party: { ...ticket, client: "Curator" } },
  { name: SESSION, party: { ...ticket, client: "unknown" } },
])("a contender is called $name", ({ name, party }) => {
  expect(nameParty(party as Party)).toBe(name);
});

test("the reason is part of the name where there is room for it", () => {
  expect(nameWithReason(ours)).toBe('ann@web3 pid 4711 deploy.sh "release 42"');
});

test("the short name has the host, or the session where nothing else is known", () => {
  expect(shortName({ ...ours, who: "ann" })).toBe("ann@web3");
  expect(shortName({ ...ticket, client: "kazoo" })).toBe(SESSION);
});

test("two contenders of the same name are told apart by their processes", () => {
  const second = { ...ours, pid: 4712 };
  const third = { ...ours, who: "bob@web1" };
  expect([ours, second, third].map(namesOf([ours, second, third]))).toEqual([
    "ann@web3 pid 4711",
    "ann@web3 pid 4712",
    "bob@web1",
  ]);
});
