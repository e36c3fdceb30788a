import { expect, test } from "vitest";
import { serversTopic } from "../../../src/commands/topics/servers-topic.ts";
import { KEEPER } from "../../../src/session/zookeeper/connecting/keeper-features.ts";
import { SINCE } from "../../../src/session/zookeeper/connecting/server-version.ts";
import { Opcode } from "../../../src/wire/protocol.ts";

type Since = Record<string, string>;

/** The operations that a table of the page names, by the release of their row. */
function told(title: string): Since {
  const program = { commands: [], globalOptions: [] } as never;
  const section = serversTopic.sections(program).find((one) => one.title === title);
  const rows = (section as { rows?: { term: string; summary: string }[] } | undefined)?.rows ?? [];
  const words = rows.flatMap(({ term, summary }) =>
    (summary.match(/[a-zA-Z0-9]+/g) ?? []).map((word): [string, string] => [word, term]),
  );
  return Object.fromEntries(words.filter(([word]) => isVersioned(word)));
}

/** A word of the page that is an operation which not every server has. */
function isVersioned(word: string): boolean {
  return word in Opcode && (word in SINCE || word in KEEPER);
}

const release = (version: readonly number[]) => version.join(".").replace(/\.0$/, "");

test("help servers says of Apache ZooKeeper what the session layer goes by", () => {
  const known = Object.entries(SINCE).map(([name, version]) => [name, release(version)]);
  expect(told("Apache ZooKeeper, from this release on")).toEqual(Object.fromEntries(known));
});

test("help servers says of ClickHouse Keeper what the session layer goes by", () => {
  const known = Object.entries(KEEPER).map(([name, rule]) => [
    name,
    rule === "never" ? rule : release(rule.since),
  ]);
  expect(told("ClickHouse Keeper, from this release on")).toEqual(Object.fromEntries(known));
});
