import { describe, expect, test } from "vitest";
import { splitGlobals } from "../../src/shell/globals.ts";

const rows: { line: string; flags?: Record<string, string[]>; words?: string[] }[] = [
  { line: "" },
  { line: "get /a", words: ["get", "/a"] },
  { line: "-s h get /a", flags: { server: ["h"] }, words: ["get", "/a"] },
  { line: "-sh:1 get /a", flags: { server: ["h:1"] }, words: ["get", "/a"] },
  { line: "-ojson ls", flags: { output: ["json"] }, words: ["ls"] },
  { line: "-qr ls", flags: { quiet: ["true"], "read-only": ["true"] }, words: ["ls"] },
  { line: "-rs h ls", flags: { "read-only": ["true"], server: ["h"] }, words: ["ls"] },
  { line: "--server h get /a", flags: { server: ["h"] }, words: ["get", "/a"] },
  { line: "--server=h=1 get /a", flags: { server: ["h=1"] }, words: ["get", "/a"] },
  { line: "get --server h /a", flags: { server: ["h"] }, words: ["get", "/a"] },
  { line: "get /a --json", flags: { json: ["true"] }, words: ["get", "/a"] },
  { line: "get /a --json=0", flags: { json: ["0"] }, words: ["get", "/a"] },
  { line: "create -s -t 5 /a", words: ["create", "-s", "-t", "5", "/a"] },
  { line: "set -v 3 /a x", words: ["set", "-v", "3", "/a", "x"] },
  { line: "set --version 3 /a x", words: ["set", "--version", "3", "/a", "x"] },
  { line: "set /a -- --json", words: ["set", "/a", "--", "--json"] },
  { line: "-- get --json", words: ["get", "--json"] },
  {
    line: "-server h -timeout 5000 -r get /a",
    flags: { server: ["h"], timeout: ["5000"], "read-only": ["true"] },
    words: ["get", "/a"],
  },
  { line: "-waitforconnection ls /", flags: { waitforconnection: ["true"] }, words: ["ls", "/"] },
  { line: "-client-configuration f ls /", flags: { "client-configuration": ["f"] }, words: ["ls", "/"] },
  { line: "--auth a:1 ls --auth b:2", flags: { auth: ["a:1", "b:2"] }, words: ["ls"] },
  { line: "-c text", flags: { command: ["text"] } },
  { line: "-f -", flags: { file: ["-"] } },
  { line: "--help", words: ["help"] },
  { line: "-h get /a --json", flags: { json: ["true"] }, words: ["help", "get"] },
  { line: "--version", words: ["version"] },
  { line: "-V --json", flags: { json: ["true"] }, words: ["version"] },
  { line: "get --help", words: ["get", "--help"] },
  { line: "get --unknown", words: ["get", "--unknown"] },
];

const errors: { line: string; message: string; hint?: string }[] = [
  { line: "-s", message: "option -s needs a value: HOSTS" },
  { line: "get --server", message: "option --server needs a value: HOSTS" },
  { line: "--servr h get", message: "unknown option '--servr'", hint: "did you mean --server?" },
  { line: "-sever h get", message: "unknown option '-sever'", hint: "did you mean -server?" },
  { line: "-z get", message: "unknown option '-z'", hint: "zksh help options lists them all" },
  { line: "--file x", message: "unknown option '--file'", hint: "zksh help options lists them all" },
];

describe("splitGlobals", () => {
  test.each(rows)("$line", ({ line, flags = {}, words = [] }) => {
    expect(splitGlobals(line.split(" ").filter((word) => word !== ""))).toEqual({ flags, words });
  });

  test.each(errors)("refuses $line", ({ line, message, hint }) => {
    expect(() => splitGlobals(line.split(" "))).toThrow(expect.objectContaining({ message, hint }));
  });
});
