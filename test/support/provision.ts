/**
 * Installs what the integration tests need where that is possible; where it is not, ends with one
 * sentence instead of letting half of the tests fail. `provision.ts partitions` adds what
 * test/partitions needs, `provision.ts bench` what bench/ needs.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { benchNeeds, isOnPath, type Need, needs, partitionNeeds, zookeeperHome } from "./needs.ts";

const MORE: Readonly<Record<string, readonly Need[]>> = {
  partitions: partitionNeeds,
  bench: benchNeeds,
};

provision([...needs, ...(MORE[process.argv[2] ?? ""] ?? [])]);

function provision(wanted: readonly Need[]): void {
  if (zookeeperHome !== undefined && !isRelease(zookeeperHome)) {
    fail(`ZOOKEEPER_HOME is ${zookeeperHome}, but there is no lib/zookeeper-*.jar in it.`);
  }
  const missing = wanted.filter((need) => !need.isPresent());
  if (missing.length === 0) return;
  if (zookeeperHome === undefined) install(missing);
  else leaveOut(missing);
}

function isRelease(home: string): boolean {
  const lib = join(home, "lib");
  return existsSync(lib) && readdirSync(lib).some((name) => /^zookeeper-\d.*\.jar$/.test(name));
}

/** With a release of ZooKeeper at hand, only the tests of missing peers do not run. */
function leaveOut(missing: readonly Need[]): void {
  const required = missing.filter(({ usedBy }) => usedBy === undefined);
  if (required.length > 0) fail(`The tests need ${names(required)}.`);
  console.error(`The tests that use ${names(missing)} are left out: not installed.`);
}

function install(missing: readonly Need[]): void {
  const packages = missing.map((need) => need.package);
  if (!isOnPath("apt-get") || process.getuid?.() !== 0) {
    const orHome = packages.includes("zookeeper")
      ? ", or set ZOOKEEPER_HOME to an unpacked Apache ZooKeeper"
      : "";
    fail(
      `The tests need ${names(missing)}: as root, run apt-get install ${packages.join(" ")} (Debian, Ubuntu)${orHome}. npm run test:unit needs nothing.`,
    );
  }
  console.error(`installing for the tests: ${packages.join(" ")}`);
  // One unreachable package source makes the update fail although the packages can be had: only the
  // install decides.
  apt("update");
  const { status, stdout, stderr } = apt("install", "-y", "--no-install-recommends", ...packages);
  if (status !== 0 || missing.some((need) => !need.isPresent())) {
    console.error(`${stdout ?? ""}${stderr ?? ""}`.trimEnd());
    fail(`The tests need ${names(missing)}, and apt-get could not install them (see above).`);
  }
}

function apt(...args: string[]): ReturnType<typeof spawnSync> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return spawnSync("apt-get", args, { env, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
}

function names(missing: readonly Need[]): string {
  return missing.map(({ name }) => name).join(", ");
}

function fail(sentence: string): never {
  console.error(sentence);
  process.exit(1);
}
