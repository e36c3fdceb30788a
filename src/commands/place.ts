/** Where a tree is: in the shell's own servers, in others, or in a file. */
import { UsageError } from "../errors.ts";
import { AclReaders } from "../recipes/trees/acl-readers.ts";
import { parseConnectString } from "../session/connect-string.ts";
import { baseName, joinPath } from "../session/path.ts";
import type { Session } from "../session/session.ts";
import type { WriteRules } from "../session/write-rules.ts";
import { type ValueParser, znodePath } from "./arguments.ts";
import type { Context } from "./command.ts";
import { startsWithSlot } from "./inner-line.ts";

export type Place =
  | { readonly kind: "here"; readonly path: string; readonly isFolder: boolean }
  | {
      readonly kind: "server";
      /** A connect string without a chroot, or `@NAME` for the servers of a profile. */
      readonly servers: string;
      readonly path: string;
      readonly isFolder: boolean;
    }
  | { readonly kind: "file"; readonly file: string; readonly isFolder: boolean };

const SERVER = "zk://";
const FILE = "file:";
const PROFILE = /^(@[^/:]*):/;

/**
 * `/path`, `zk://HOST[:PORT],…/PATH`, `@PROFILE:/PATH` or `file:PATH`. A slash at the end names a
 * folder.
 */
export const place: ValueParser<Place> = (text, where) => {
  // The value may be data of a znode: it must not choose who gets a copy of a tree, or read a file.
  const isElsewhere = text.startsWith(FILE) || text.startsWith(SERVER);
  if (isElsewhere && startsWithSlot(where.template))
    throw new UsageError(`a variable cannot name a file or another server: ${text}`, {
      hint: `write file: or ${SERVER} before the variable`,
    });
  if (text.startsWith(FILE)) {
    const file = text.slice(FILE.length);
    if (file === "") throw new UsageError("file: needs the path of a file");
    return { kind: "file", file: file.replace(/(?<=.)\/+$/, ""), isFolder: file.endsWith("/") };
  }
  const isFolder = text.endsWith("/");
  const [begin, profile] = PROFILE.exec(text) ?? [];
  if (begin !== undefined && profile !== undefined) {
    const below = text.slice(begin.length);
    if (profile === "@" || !below.startsWith("/"))
      throw new UsageError(`${text} is no place of a profile`, {
        hint: "for example @prod:/app; data that begins with @ is the contents of a file",
      });
    return { kind: "server", servers: profile, path: znodePath(below, where) as string, isFolder };
  }
  if (!text.startsWith(SERVER))
    return { kind: "here", path: znodePath(text, where) as string, isFolder };
  const rest = text.slice(SERVER.length);
  const slash = rest.indexOf("/");
  const servers = slash < 0 ? rest : rest.slice(0, slash);
  if (servers === "") {
    throw new UsageError(`${text} names no server`, {
      hint: "for example zk://zk1:2181,zk2:2181/app",
    });
  }
  parseConnectString(servers);
  const path = znodePath(slash < 0 ? "/" : rest.slice(slash), where) as string;
  return { kind: "server", servers, path, isFolder };
};

export type ZnodePlace = Exclude<Place, { kind: "file" }>;

/** A place among znodes; a file is a usage error that names what takes files. */
export const znodePlace: ValueParser<ZnodePlace> = (text, where) => {
  const found = place(text, where) as Place;
  if (found.kind !== "file") return found;
  throw new UsageError(`${text} is a file`, {
    hint: "cp -r and export write a tree to files, cp -r and import read one",
  });
};

/** The name of a copy of `from`: the target itself, or below it where that is a folder. */
export function targetOf<To extends Place>(from: Place, target: To): To {
  if (!target.isFolder) return target;
  const name = baseName(from.kind === "file" ? from.file : from.path);
  if (target.kind !== "file") return { ...target, path: joinPath(target.path, name) };
  return { ...target, file: `${target.file === "/" ? "" : target.file}/${name}` };
}

/** False does not prove that the servers are different: they may have several names. */
export function isSameServer(one: ZnodePlace, other: ZnodePlace): boolean {
  if (one.kind === "here" || other.kind === "here") return one.kind === other.kind;
  return one.servers === other.servers;
}

/** As it is typed. */
export function formatPlace(of: Place): string {
  if (of.kind === "file") return `${FILE}${of.file}`;
  if (of.kind === "here") return of.path;
  return of.servers.startsWith("@")
    ? `${of.servers}:${of.path}`
    : `${SERVER}${of.servers}${of.path}`;
}

/** What the settings forbid to write at a place. */
export function writesAt(context: Context, of: ZnodePlace): WriteRules {
  return of.kind === "here" ? context.writes : context.writesAt(of.servers);
}

/**
 * Sessions to places; other servers are asked with the credentials of the shell, and those of a
 * profile with its own too. They keep to what the settings forbid to write.
 */
export class Places {
  readonly #context: Context;
  readonly #command: string;
  readonly #sessions = new Map<string, Promise<Session>>();
  readonly #aclReaders: AclReaders[] = [];

  constructor(context: Context, command: string) {
    this.#context = context;
    this.#command = command;
  }

  async session(of: ZnodePlace): Promise<Session> {
    if (of.kind === "here") return this.#context.session();
    const { servers } = of;
    const opened = this.#sessions.get(servers) ?? this.#open(servers);
    this.#sessions.set(servers, opened);
    return opened;
  }

  /** Reads the ACLs of a place, many of them on several sessions. */
  async acls(of: ZnodePlace): Promise<AclReaders> {
    const { shell, signal } = this.#context;
    const target = of.kind === "here" ? undefined : of.servers;
    const open = () => shell.openSession({ target });
    const readers = new AclReaders(await this.session(of), { open, signal });
    this.#aclReaders.push(readers);
    return readers;
  }

  async #open(target: string): Promise<Session> {
    const { shell, signal } = this.#context;
    const session = await shell.openSession({ target });
    try {
      await session.connected({ signal });
      return this.#context.writesAt(target).guard(session, this.#command);
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  /** Closes what {@link session} and {@link acls} have opened. */
  async close(): Promise<void> {
    await Promise.all(this.#aclReaders.map((readers) => readers.close()));
    const opened = await Promise.allSettled(this.#sessions.values());
    await Promise.all(
      opened.map((one) => (one.status === "fulfilled" ? one.value.close() : undefined)),
    );
  }
}
