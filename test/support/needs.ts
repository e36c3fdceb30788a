import { existsSync, readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";

/** A program that integration tests use. */
export interface Need {
  readonly name: string;
  /** The Debian package that has it. */
  readonly package: string;
  isPresent(): boolean;
  /** What the source of a test file contains that uses it; without it, every file does. */
  readonly usedBy?: RegExp;
}

/** An unpacked Apache release, used instead of Debian's package. */
export const zookeeperHome = process.env.ZOOKEEPER_HOME;

const JAVA_PEERS = /support\/peers\.ts|\/fleet\.ts|CuratorTranscript|\/torture\.ts/;
const KAZOO_SASL = /kazoo_sasl|sasl_options/;

export const needs: readonly Need[] = [
  // Debian's package brings a Java runtime with it; an Apache release does not.
  { name: "Java", package: "default-jre-headless", isPresent: () => isOnPath("java") },
  {
    name: "Apache ZooKeeper",
    package: "zookeeper",
    isPresent: () => zookeeperHome !== undefined || existsSync("/usr/share/java/zookeeper.jar"),
  },
  {
    name: "a Java compiler",
    package: "default-jdk-headless",
    isPresent: () => isOnPath("javac"),
    usedBy: new RegExp(`${JAVA_PEERS.source}|ReadProperties|WriteStrings`),
  },
  {
    // Looked for where Debian's own /usr/bin/python3 finds it: another python3 may come first on
    // PATH.
    name: "kazoo",
    package: "python3-kazoo",
    isPresent: () => existsSync("/usr/lib/python3/dist-packages/kazoo"),
    usedBy: new RegExp(`${JAVA_PEERS.source}|${KAZOO_SASL.source}`),
  },
  {
    name: "kazoo's SASL",
    package: "python3-pure-sasl",
    isPresent: () => existsSync("/usr/lib/python3/dist-packages/puresasl"),
    usedBy: KAZOO_SASL,
  },
  {
    name: "Curator",
    package: "libcurator-recipes-java",
    isPresent: () => existsSync("/usr/share/java/curator-recipes.jar"),
    usedBy: JAVA_PEERS,
  },
  {
    name: "ZooKeeper's lock recipe",
    package: "libzookeeper-java",
    isPresent: () => existsSync("/usr/share/java/zookeeper-recipes-lock.jar"),
    usedBy: JAVA_PEERS,
  },
  {
    name: "tmux",
    package: "tmux",
    isPresent: () => isOnPath("tmux"),
    usedBy: /support\/terminal\.ts/,
  },
  {
    // Preloaded into a server, it gives it another clock.
    name: "libfaketime",
    package: "faketime",
    isPresent: () => fakeTimeLibrary() !== undefined,
    usedBy: /fakeTimeLibrary/,
  },
  {
    name: "ed",
    package: "ed",
    isPresent: () => isOnPath("ed"),
    usedBy: /EDITOR: "ed"/,
  },
  {
    name: "vi",
    package: "vim-tiny",
    isPresent: () => isOnPath("vi"),
    usedBy: /EDITOR: "vi"/,
  },
  {
    name: "nano",
    package: "nano",
    isPresent: () => isOnPath("nano"),
    usedBy: /EDITOR: "nano"/,
  },
  {
    name: "openssl",
    package: "openssl",
    isPresent: () => isOnPath("openssl"),
    usedBy: /support\/certificates\.ts/,
  },
  {
    name: "Python",
    package: "python3",
    isPresent: () => existsSync("/usr/bin/python3"),
    usedBy: new RegExp(`${JAVA_PEERS.source}|lock-scene`),
  },
  ...[
    { name: "a KDC", package: "krb5-kdc", path: "/usr/sbin/krb5kdc" },
    { name: "kadmin", package: "krb5-admin-server", path: "/usr/sbin/kadmin.local" },
    { name: "kinit", package: "krb5-user", path: "/usr/bin/kinit" },
  ].map(({ path, ...need }) => ({
    ...need,
    isPresent: () => existsSync(path),
    usedBy: /support\/kdc\.ts/,
  })),
  {
    // Turns a model into a C program that searches it.
    name: "spin",
    package: "spin",
    isPresent: () => isOnPath("spin"),
    usedBy: /\.pml/,
  },
  {
    name: "a C compiler",
    package: "gcc",
    isPresent: () => isOnPath("gcc"),
    usedBy: /\.pml|become-root/,
  },
  {
    name: "the C library's headers",
    package: "libc6-dev",
    isPresent: () => existsSync("/usr/include/stdlib.h"),
    usedBy: /\.pml|become-root/,
  },
];

/** What bench/ measures with. */
export const benchNeeds: readonly Need[] = [
  { name: "GNU time", package: "time", isPresent: () => existsSync("/usr/bin/time") },
];

/** What the networks of test/partitions are made with. */
export const partitionNeeds: readonly Need[] = [
  { name: "ip", package: "iproute2", isPresent: () => isOnPath("ip") },
  { name: "nftables", package: "nftables", isPresent: () => isOnPath("nft") },
];

export function isOnPath(program: string): boolean {
  return (process.env.PATH ?? "")
    .split(delimiter)
    .some((folder) => existsSync(join(folder, program)));
}

/**
 * The integration tests that cannot run beside an Apache release in ZOOKEEPER_HOME, because a
 * program that they use is not installed. Without ZOOKEEPER_HOME nothing is left out: what is
 * missing ends the run.
 */
export function leftOut(root: string): string[] {
  if (zookeeperHome === undefined) return [];
  const missing = needs.filter((need) => !need.isPresent());
  return readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.ts"))
    .filter((name) => {
      const source = readFileSync(join(root, "test", name), "utf8");
      return missing.some(({ usedBy }) => usedBy?.test(source));
    })
    .map((name) => join("test", name));
}

/** The library to preload, in the folder of this machine's architecture. */
export function fakeTimeLibrary(): string | undefined {
  return readdirSync("/usr/lib")
    .map((folder) => `/usr/lib/${folder}/faketime/libfaketime.so.1`)
    .find((file) => existsSync(file));
}
