// @ts-check
// npm run release -- VERSION [--yes]: checks the package as a user gets it, dates the changelog,
// and with --yes commits and tags. Publishing is left to `npm publish` on the tag.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [version = "", yes] = process.argv.slice(2);
const changelog = readFileSync("CHANGELOG.md", "utf8");

/** @type {(cwd: string, command: string, ...args: string[]) => string} */
const run = (cwd, command, ...args) =>
  execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

if (!/^\d+\.\d+\.\d+$/.test(version)) fail("usage: npm run release -- VERSION [--yes]");
if (run(".", "git", "status", "--porcelain") !== "") fail("commit or stash your changes first");
if (run(".", "git", "tag", "--list", `v${version}`) !== "") fail(`v${version} is released already`);
const isDated = changelog.includes(`\n## ${version} - `);
if (!isDated && !/^## Unreleased\n+###/m.test(changelog)) fail("CHANGELOG.md has nothing new");

const folder = mkdtempSync(join(tmpdir(), "zksh-release-"));
try {
  const packed = run(".", "npm", "pack", "--silent", "--pack-destination", folder).trim();
  const tarball = join(folder, packed.split("\n").at(-1) ?? "");
  execFileSync("npx", ["publint", "run", tarball, "--strict"], { stdio: "inherit" });
  run(folder, "npm", "install", "--prefix", folder, "--no-audit", "--no-fund", tarball);
  const listing = run(folder, join(folder, "node_modules/.bin/zksh"), "--embedded", "ls", "/");
  if (listing !== "zookeeper\n") fail(`zksh --embedded ls / printed ${JSON.stringify(listing)}`);
} finally {
  rmSync(folder, { recursive: true });
}
console.log("the package installs into an empty folder and runs");

if (yes !== "--yes") {
  console.log(`dry run: --yes commits and tags v${version}`);
} else {
  const dated = `## Unreleased\n\n## ${version} - ${new Date().toISOString().slice(0, 10)}`;
  if (!isDated) writeFileSync("CHANGELOG.md", changelog.replace("## Unreleased", dated));
  run(".", "npm", "version", version, "--no-git-tag-version", "--allow-same-version");
  run(".", "git", "commit", "--allow-empty", "-am", `Release ${version}`);
  run(".", "git", "tag", "-a", `v${version}`, "-m", `zksh ${version}`);
  console.log(`tagged v${version}: push it, then run npm publish`);
}

/** @type {(sentence: string) => never} */
function fail(sentence) {
  console.error(sentence);
  process.exit(1);
}
