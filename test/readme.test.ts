import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { commands } from "../src/commands/index.ts";
import { ExitCode, LockExitCode } from "../src/exit-codes.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

describe("README.md", () => {
  test("lists the commands of the registry, in its order and its words", () => {
    const table = /## Commands\n([\s\S]*?)\n## /.exec(readme)?.[1] ?? "";
    const rows = [...table.matchAll(/^\| `([^`]+)` \| (.*) \|$/gm)].map(([, name, summary]) => ({
      name,
      summary,
    }));
    expect(rows).toEqual(commands.map(({ name, summary }) => ({ name, summary })));
  });

  test("lists every exit code", () => {
    const table = /## Exit codes\n([\s\S]*?)\n## /.exec(readme)?.[1] ?? "";
    const codes = [...table.matchAll(/^\| ([\d /]+) \|/gm)].flatMap(([, cell]) =>
      (cell ?? "").split("/").map(Number),
    );
    expect(codes).toEqual([...Object.values(ExitCode), ...Object.values(LockExitCode)]);
  });
});
