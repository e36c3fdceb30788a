#!/usr/bin/env node
// @ts-check
// The tests talk to real servers and to clients that nobody here wrote. What is missing is
// installed where that is possible; where it is not, the run ends here with one sentence instead of
// skipping half of the tests. `provision.js partitions` adds what test/partitions needs.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

const home = process.env.ZOOKEEPER_HOME;

const onPath = (/** @type {string} */ name) =>
  (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, name)));

const hasJar = (/** @type {string} */ folder, /** @type {RegExp} */ pattern) =>
  existsSync(folder) && readdirSync(folder).some((name) => pattern.test(name));

const needs = [
  // The package brings a Java runtime with it; a distribution in ZOOKEEPER_HOME does not.
  { name: "Java", package: "default-jre-headless", present: () => onPath("java") },
  { name: "a Java compiler", package: "default-jdk-headless", present: () => onPath("javac") },
  {
    name: "Apache ZooKeeper",
    package: "zookeeper",
    present: () => home || existsSync("/usr/share/java/zookeeper.jar"),
  },
  // Looked for where Debian's own /usr/bin/python3 finds it: another python3 may come first on
  // PATH.
  {
    name: "kazoo",
    package: "python3-kazoo",
    present: () => existsSync("/usr/lib/python3/dist-packages/kazoo"),
  },
  {
    name: "Curator",
    package: "libcurator-recipes-java",
    present: () => existsSync("/usr/share/java/curator-recipes.jar"),
  },
  {
    name: "ZooKeeper's lock recipe",
    package: "libzookeeper-java",
    present: () => existsSync("/usr/share/java/zookeeper-recipes-lock.jar"),
  },
  { name: "tmux", package: "tmux", present: () => onPath("tmux") },
  { name: "GNU time", package: "time", present: () => existsSync("/usr/bin/time") },
  { name: "openssl", package: "openssl", present: () => onPath("openssl") },
  // test/model: spin turns a model into a C program that searches it.
  { name: "spin", package: "spin", present: () => onPath("spin") },
  { name: "a C compiler", package: "gcc", present: () => onPath("gcc") },
  {
    name: "the C library's headers",
    package: "libc6-dev",
    present: () => existsSync("/usr/include/stdlib.h"),
  },
];
if (process.argv[2] === "partitions") {
  needs.push(
    { name: "ip", package: "iproute2", present: () => onPath("ip") },
    { name: "nftables", package: "nftables", present: () => onPath("nft") },
  );
}

function fail(/** @type {string} */ sentence) {
  console.error(sentence);
  process.exit(1);
}

function apt(/** @type {string[]} */ ...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return spawnSync("apt-get", args, { env, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
}

if (home && !hasJar(join(home, "lib"), /\.jar$/) && !hasJar(home, /^zookeeper.*\.jar$/)) {
  fail(`ZOOKEEPER_HOME is ${home}, but there is neither lib/*.jar nor zookeeper*.jar in it.`);
}

const missing = needs.filter((need) => !need.present());
if (missing.length > 0) {
  const names = missing.map((need) => need.name).join(", ");
  const packages = missing.map((need) => need.package);
  if (!onPath("apt-get") || process.getuid?.() !== 0) {
    const orHome = missing.some((need) => need.package === "zookeeper")
      ? ", or set ZOOKEEPER_HOME to an unpacked Apache ZooKeeper"
      : "";
    fail(
      `The tests need ${names}: as root, run apt-get install ${packages.join(" ")} (Debian, Ubuntu)${orHome}.`,
    );
  }

  console.error(`installing for the tests: ${packages.join(" ")}`);
  // One unreachable package source makes the update fail although the packages can be had: only the
  // install decides.
  apt("update");
  const install = apt("install", "-y", "--no-install-recommends", ...packages);
  const still = missing.filter((need) => !need.present());
  if (install.status !== 0 || still.length > 0) {
    console.error(`${install.stdout ?? ""}${install.stderr ?? ""}`.trimEnd());
    fail(
      `The tests need ${names}, and apt-get could not install ${packages.join(" ")} (see above).`,
    );
  }
}
