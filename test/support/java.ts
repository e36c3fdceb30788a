import { type ChildProcess, execFile, type SpawnOptions } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { cachedPath, jarStamps, makeCached } from "./java-cache.ts";
import { zookeeperHome } from "./needs.ts";
import { spawnTracked } from "./tracked-process.ts";

const DEBIAN = "/usr/share/java";

// zookeeper.jar names its own dependencies, but forgets what Netty needs for TLS. Naming jars
// instead of `*` halves the start-up time and leaves one logging back end, so that log() has
// something to show.
const DEBIAN_SERVER_JARS = [
  "zookeeper",
  "slf4j-simple",
  "netty-codec",
  "netty-resolver",
  "netty-transport-native-unix-common",
];

function serverClassPath(): string {
  if (zookeeperHome !== undefined) return join(zookeeperHome, "lib", "*");
  return DEBIAN_SERVER_JARS.map((jar) => join(DEBIAN, `${jar}.jar`)).join(delimiter);
}

// What peers are made of. Their own dependencies stand in their manifests.
const DEBIAN_PEER_JARS = [
  "curator-recipes",
  "curator-framework",
  "curator-client",
  "zookeeper-recipes-lock",
  "guava",
];

/** The server's jars first, then Curator's and those of ZooKeeper's own recipes. */
export function peerClassPath(): string {
  return [serverClassPath(), ...DEBIAN_PEER_JARS.map((jar) => join(DEBIAN, `${jar}.jar`))].join(
    delimiter,
  );
}

// For a quick start on a busy machine. Measurements want -XX:TieredStopAtLevel=4 again; flags given
// later win.
const QUICK_START = ["-Xmx256m", "-Xshare:auto", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];
// Debian logs with slf4j-simple, Apache's releases with Logback (3.8 and later) or Log4j: their own
// configuration would write to stdout, among what zkCli prints.
const LOGGING = join(import.meta.dirname, "logging");
const QUIET = [
  "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
  `-Dlogback.configurationFile=${join(LOGGING, "logback.xml")}`,
  `-Dlog4j.configuration=file:${join(LOGGING, "log4j.properties")}`,
];

/** The archive of the server's classes; see class-archive.ts. */
export function classArchive(): string {
  return cachedPath("server.jsa", jarStamps(serverClassPath()));
}

/** Makes a server start quicker, where the archive exists. */
export function archiveFlags(): string[] {
  const archive = classArchive();
  return existsSync(archive) ? [`-XX:SharedArchiveFile=${archive}`] : [];
}

export interface JavaOptions extends SpawnOptions {
  readonly classPath?: string;
  /** A command that starts the JVM in its own place, such as `nsenter --net=FILE`. */
  readonly through?: readonly string[];
}

/**
 * Starts a JVM that does not outlive this process. `args` are JVM flags, the main class, its
 * arguments.
 */
export function spawnJava(args: readonly string[], options: JavaOptions = {}): ChildProcess {
  const { classPath = serverClassPath(), through = [], ...spawnOptions } = options;
  const [command = "java", ...words] = [
    ...through,
    "java",
    ...QUICK_START,
    ...QUIET,
    "-cp",
    classPath,
    ...args,
  ];
  return spawnTracked(command, words, spawnOptions);
}

const compiled = new Map<string, Promise<string>>();

/**
 * Compiles the Java files of a folder where no earlier run has, and gives the folder with the
 * classes. The compiler can take longer than a session lives, so that it must not block this
 * process.
 */
export function compileJava(folder: string): Promise<string> {
  const known = compiled.get(folder) ?? compile(folder);
  compiled.set(folder, known);
  return known;
}

async function compile(folder: string): Promise<string> {
  const names = readdirSync(folder).filter((name) => name.endsWith(".java"));
  const paths = names.map((name) => join(folder, name));
  const sources = paths.map((path) => readFileSync(path));
  const classes = cachedPath("classes", [...jarStamps(peerClassPath()), ...names, ...sources]);
  await makeCached(classes, async (temporary) => {
    mkdirSync(temporary);
    await promisify(execFile)("javac", ["-cp", peerClassPath(), "-d", temporary, ...paths]);
  });
  return classes;
}
