import { beforeEach, describe, expect, test } from "vitest";
import { type Watcher, Watches } from "../../src/embedded/watches.ts";

let watches: Watches;
let heard: string[];
let ann: Watcher;
let bob: Watcher;

beforeEach(() => {
  watches = new Watches();
  heard = [];
  const watcher = (name: string): Watcher => ({
    notify: (type, path) => heard.push(`${name} ${type} ${path}`),
  });
  [ann, bob] = [watcher("ann"), watcher("bob")];
});

const at = (path: string) => ({ path, acl: [] });

describe("Watches", () => {
  test("one-shot watches are used up", () => {
    watches.data.add("/a", ann, "one-shot");
    watches.changed(at("/a"));
    watches.changed(at("/a"));
    expect(heard).toEqual(["ann 3 /a"]);
    expect(watches.size).toBe(0);
  });

  test("a watcher of data and children hears of a deletion once", () => {
    watches.data.add("/a", ann, "one-shot");
    watches.children.add("/a", ann, "one-shot");
    watches.children.add("/a", bob, "one-shot");
    watches.children.add("/", bob, "one-shot");
    watches.deleted(at("/a"), at("/"));
    expect(heard).toEqual(["ann 2 /a", "bob 2 /a", "bob 4 /"]);
    expect(watches.size).toBe(0);
  });

  test("recursive watches hear of everything below, but of no list of children", () => {
    watches.addLasting("/a", ann, "recursive");
    watches.created(at("/a/b/c"), at("/a/b"));
    watches.created(at("/ab"), at("/"));
    watches.created(at("/a/b"), at("/a"));
    watches.deleted(at("/a"), at("/"));
    expect(heard).toEqual(["ann 1 /a/b/c", "ann 1 /a/b", "ann 2 /a"]);
  });

  test("a recursive watch on the root hears of all", () => {
    watches.addLasting("/", ann, "recursive");
    watches.changed(at("/"));
    watches.changed(at("/a/b"));
    expect(heard).toEqual(["ann 3 /", "ann 3 /a/b"]);
  });

  test("the last mode set on a path replaces the earlier one", () => {
    watches.addLasting("/a", ann, "persistent");
    watches.data.add("/a", ann, "one-shot");
    for (let i = 0; i < 2; i++) watches.changed(at("/a"));
    for (let i = 0; i < 2; i++) watches.created(at("/a/b"), at("/a"));
    expect(heard).toEqual(["ann 3 /a", "ann 4 /a", "ann 4 /a"]);
  });

  test("no watch is left of a connection that has closed", () => {
    watches.addLasting("/a", ann, "recursive");
    watches.addLasting("/b", ann, "persistent");
    watches.data.add("/c", ann, "one-shot");
    watches.data.add("/c", bob, "one-shot");
    expect(watches.data.remove("/c", bob)).toBe(true);
    expect(watches.data.remove("/c", bob)).toBe(false);
    watches.removeAll(ann);
    watches.changed(at("/a/x"));
    expect([heard, watches.size, watches.data.paths.size]).toEqual([[], 0, 0]);
  });
});
