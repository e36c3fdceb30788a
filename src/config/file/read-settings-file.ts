/**
 * The text of the settings file → what it says. Every key and type is checked, also of profiles that
 * are not in use. An option of the program is stored under its own name in camel case, or in an
 * object: `tlsCa` and `tls: { ca }` are --tls-ca. A new option needs no code here.
 */
import { dirname, resolve } from "node:path";
import { UsageError } from "../../errors.ts";
import { LABEL_COLOURS, type LabelColour } from "../../render/theme.ts";
import { parseSize } from "../../text/size.ts";
import { didYouMean } from "../../text/suggest.ts";
import { type GlobalOption, globalOptions } from "../global-options.ts";
import type {
  Habits,
  Profile,
  SettingsFile,
  StoredLayer,
  StoredValue,
} from "../stored-settings.ts";
import {
  type JsonMember,
  type JsonNode,
  parseJsonWithComments,
  placeIn,
} from "./json-with-comments.ts";

export interface FileText {
  readonly text: string;
  readonly path: string;
  readonly home: string | undefined;
}

/** Throws UsageError with line and column. */
export function readSettingsFile(file: FileText): SettingsFile {
  return new FileReader(file).read();
}

const PROFILE_KEYS: readonly string[] = ["chroot", "label", "colour", "protect", "confirm"];
const HABIT_KEYS: readonly string[] = ["pager", "history", "undo"];
const MAX_HISTORY = 100_000;

type Members = ReadonlyMap<string, JsonMember>;

class FileReader {
  readonly #file: FileText;
  #hasSecrets = false;

  constructor(file: FileText) {
    this.#file = file;
  }

  read(): SettingsFile {
    const { text, path } = this.#file;
    const blank = text.trim() === "";
    const root = blank ? new Map() : this.#members(parseJsonWithComments(text, path), "the file");
    const profiles = this.#named(root, "profiles");
    const aliases = this.#named(root, "aliases");
    const others = ["profiles", "aliases", ...HABIT_KEYS];
    return {
      path,
      defaults: {
        name: "the settings file",
        values: this.#options(root, { scope: "file", others }),
      },
      profiles: new Map(
        Array.from(profiles, ([name, member]) => [name, this.#profile(name, member)]),
      ),
      aliases: new Map(
        Array.from(aliases, ([name, member]) => [name, this.#alias(`aliases.${name}`, member)]),
      ),
      habits: this.#habits(root),
      hasSecrets: this.#hasSecrets,
    };
  }

  #named(root: Members, key: string): Members {
    const member = root.get(key);
    if (member === undefined) return new Map();
    const members = this.#members(member, key);
    for (const [name, { nameAt }] of members)
      if (!/^[\w.-]+$/.test(name) || name.startsWith("-"))
        throw this.#error(`bad name ${JSON.stringify(name)} in ${key}`, nameAt, {
          hint: "use letters, digits, - _ and .",
        });
    return members;
  }

  #profile(name: string, member: JsonMember): Profile {
    const where = `profiles.${name}`;
    const members = this.#members(member, where);
    const values = this.#options(members, { scope: "profile", others: PROFILE_KEYS, where });
    const options: StoredLayer = {
      name: `profile ${name}`,
      values: this.#located(members, values),
    };
    const label = this.#optional(members, "label", (node) => this.#label(`${where}.label`, node));
    const colour = this.#optional(members, "colour", (node) =>
      this.#colour(`${where}.colour`, node),
    );
    const protect = this.#optional(members, "protect", (node) =>
      this.#globs(`${where}.protect`, node),
    );
    const confirms = this.#optional(members, "confirm", (node) =>
      this.#boolean(`${where}.confirm`, node),
    );
    return { name, options, label, colour, protect: protect ?? [], confirms: confirms ?? false };
  }

  /** `chroot` belongs to the servers of its profile. */
  #located(
    members: Members,
    values: ReadonlyMap<string, StoredValue>,
  ): ReadonlyMap<string, StoredValue> {
    const chroot = members.get("chroot");
    if (chroot === undefined) return values;
    const text = this.#text("chroot", chroot);
    const server = values.get("server");
    if (!text.startsWith("/"))
      throw this.#error(`chroot is the path of a znode, not ${JSON.stringify(text)}`, chroot.start);
    if (server === undefined)
      throw this.#error("chroot needs the servers that it belongs to (server)", chroot.nameAt);
    if (server.value.replace(/^[a-z-]+:\/\//, "").includes("/"))
      throw this.#error("server has a chroot already", chroot.nameAt);
    const path = text.replace(/\/+$/, "");
    return new Map(values).set("server", { ...server, value: server.value + path });
  }

  #alias(key: string, node: JsonNode): string {
    const line = this.#text(key, node);
    if (line.trim() === "") throw this.#error(`${key} is empty`, node.start);
    return line;
  }

  #habits(root: Members): Habits {
    const habits = {
      pager: this.#optional(root, "pager", (node) =>
        node.value === false ? false : this.#text("pager", node, "a command or false"),
      ),
      history: this.#optional(root, "history", (node) => this.#history(node)),
      undo: this.#optional(root, "undo", (node) => this.#undo(node)),
    };
    return Object.fromEntries(Object.entries(habits).filter(([, value]) => value !== undefined));
  }

  #history(node: JsonNode): number {
    const { value } = node;
    if (value === false) return 0;
    const isCount = typeof value === "number" && Number.isInteger(value);
    if (isCount && value >= 0 && value <= MAX_HISTORY) return value;
    throw this.#wrongType("history", `false or a number of lines up to ${MAX_HISTORY}`, node);
  }

  #undo(node: JsonNode): number {
    if (node.value === false) return 0;
    const text = this.#text("undo", node, "false or a size");
    try {
      return parseSize(text);
    } catch {
      throw this.#wrongType("undo", 'false or a size ("64m")', node);
    }
  }

  #options(
    members: Members,
    {
      scope,
      others,
      where,
    }: {
      readonly scope: "file" | "profile";
      readonly others: readonly string[];
      readonly where?: string;
    },
  ): ReadonlyMap<string, StoredValue> {
    const known = storable(scope);
    const values = new Map<string, StoredValue>();
    const inFull = (key: string) => (where === undefined ? key : `${where}.${key}`);
    const add = (prefix: string, key: string, member: JsonMember): void => {
      const name = prefix + kebab(key.split(".").at(-1) ?? "");
      const option = known.get(name);
      const family = [...known.keys()].filter((one) => one.startsWith(`${name}-`));
      if (member.value instanceof Map && family.length > 0) {
        // `"tls": {}` asks for TLS too.
        if (option && option.value === undefined) values.set(name, { value: "true", key });
        for (const [own, inner] of member.value) add(`${name}-`, `${key}.${own}`, inner);
      } else if (option === undefined) {
        const keys = prefix === "" ? [...known.keys()].map(camel).concat(others) : family;
        const inside = [...known.keys()].filter((one) => prefix !== "" && one.startsWith(prefix));
        throw this.#unknown(inFull(key), member, [
          ...keys,
          ...inside.map((one) => camel(one.slice(prefix.length))),
        ]);
      } else if (values.has(name)) {
        throw this.#error(`${inFull(key)}: --${name} is there twice`, member.nameAt);
      } else values.set(name, { value: this.#value(option, inFull(key), member), key });
    };
    for (const [key, member] of members) if (!others.includes(key)) add("", key, member);
    return values;
  }

  #value(option: GlobalOption, key: string, node: JsonNode): string {
    if (option.value === undefined) return String(this.#boolean(key, node));
    const text = this.#text(key, node);
    if (option.name === "sasl" && text.split(":").length > 2) this.#hasSecrets = true;
    if (/password$/.test(option.name)) this.#hasSecrets = true;
    return option.value.startsWith("FILE") ? this.#filePath(text) : text;
  }

  /** `~` is the home directory; other paths start at the directory of the settings file. */
  #filePath(text: string): string {
    const { path, home } = this.#file;
    if (text.startsWith("~/") && home !== undefined) return resolve(home, text.slice("~/".length));
    return resolve(dirname(path), text);
  }

  #label(key: string, node: JsonNode): string {
    const text = this.#text(key, node);
    if (/^\S{1,24}$/.test(text)) return text;
    throw this.#error(`${key} is a word of at most 24 characters`, node.start);
  }

  #colour(key: string, node: JsonNode): LabelColour {
    const found = LABEL_COLOURS.find((colour) => colour === node.value);
    if (found) return found;
    throw this.#wrongType(key, `one of ${LABEL_COLOURS.join(", ")}`, node);
  }

  #globs(key: string, node: JsonNode): string[] {
    if (!Array.isArray(node.value)) throw this.#wrongType(key, "a list of paths", node);
    return node.value.map((one: JsonNode) => {
      const glob = this.#text(key, one, "a list of paths");
      if (glob.startsWith("/")) return glob;
      throw this.#error(`${key}: ${JSON.stringify(glob)} does not start with /`, one.start);
    });
  }

  #optional<T>(members: Members, key: string, read: (node: JsonMember) => T): T | undefined {
    const member = members.get(key);
    return member && read(member);
  }

  #members(node: JsonNode, key: string): Members {
    if (node.value instanceof Map) return node.value;
    throw this.#wrongType(key, "an object { … }", node);
  }

  #boolean(key: string, node: JsonNode): boolean {
    if (typeof node.value === "boolean") return node.value;
    throw this.#wrongType(key, "true or false", node);
  }

  #text(key: string, node: JsonNode, what = "a text in double quotes"): string {
    if (typeof node.value !== "string") throw this.#wrongType(key, what, node);
    if (node.value.includes("\0")) throw this.#error(`${key} has a NUL character`, node.start);
    return node.value;
  }

  #wrongType(key: string, what: string, { value, start }: JsonNode): UsageError {
    const found = Array.isArray(value)
      ? "a list"
      : value instanceof Map
        ? "an object"
        : typeof value === "string"
          ? "a text"
          : String(value);
    return this.#error(`${key} must be ${what}, not ${found}`, start);
  }

  #unknown(key: string, { nameAt }: JsonMember, keys: readonly string[]): UsageError {
    const last = key.split(".").at(-1) ?? "";
    const like = didYouMean(last, keys);
    return this.#error(`unknown setting ${key}`, nameAt, like === undefined ? {} : { hint: like });
  }

  #error(message: string, at: number, { hint }: { hint?: string } = {}): UsageError {
    const { text, path } = this.#file;
    return new UsageError(`${placeIn(text, path, at)}: ${message}`, {
      hint: hint ?? "help settings-file lists them; --no-config starts zksh without the file",
    });
  }
}

/** The options that the file, or a profile in it, may have. */
function storable(scope: "file" | "profile"): ReadonlyMap<string, GlobalOption> {
  const options: readonly GlobalOption[] = globalOptions;
  const isStorable = ({ storedIn }: GlobalOption) =>
    storedIn === undefined || (storedIn === "file" && scope === "file");
  return new Map(options.filter(isStorable).map((option) => [option.name, option]));
}

function kebab(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function camel(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
