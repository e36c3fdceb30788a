/** Reads JAAS login configurations, by the rules of the JDK's ConfigFile. */
import { UsageError } from "../errors.ts";
import type { DigestUser } from "./sasl-settings.ts";

interface LoginModule {
  readonly className: string;
  readonly options: ReadonlyMap<string, string>;
}

type Sections = ReadonlyMap<string, readonly LoginModule[]>;

/** The user of a section of `file`. Messages never repeat a value. Throws UsageError. */
export function jaasUser(text: string, file: string, section: string): Required<DigestUser> {
  const sections = parseJaas(text, file);
  const modules = sections.get(section);
  const where = `section ${section} of ${file}`;
  if (modules === undefined) {
    const names = [...sections.keys()];
    throw new UsageError(`${file} has no section ${section}`, {
      hint:
        names.length === 0
          ? 'a section is Client { …DigestLoginModule required username="…" password="…"; };'
          : `it has ${names.join(", ")}: name one with --jaas ${file}#${names[0]}`,
    });
  }
  const digest = modules.find(({ className }) => isModule(className, "DigestLoginModule"));
  if (digest === undefined) throw otherModule(where, modules);
  const [username, password] = ["username", "password"].map((name) => digest.options.get(name));
  if (!username) throw new UsageError(`no username in ${where}`);
  if (password === undefined) throw new UsageError(`no password in ${where}`);
  return { username, password };
}

function otherModule(where: string, modules: readonly LoginModule[]): UsageError {
  if (modules.some(({ className }) => isModule(className, "Krb5LoginModule")))
    return new UsageError(
      `${where} logs in by Kerberos (Krb5LoginModule): zksh has no GSSAPI, which that needs`,
      { hint: "zksh logs in by DIGEST-MD5: --sasl digest:USER, or a DigestLoginModule" },
    );
  const names = modules.map(({ className }) => className).join(", ");
  return new UsageError(`${where} has no DigestLoginModule, but ${names || "nothing"}`);
}

/** With or without the package. */
function isModule(className: string, name: string): boolean {
  return className === name || className.endsWith(`.${name}`);
}

interface Token {
  readonly text: string;
  readonly isString: boolean;
  readonly line: number;
}

/** `Name { class flag option=value …; … };` for each section. */
function parseJaas(text: string, file: string): Sections {
  const tokens = tokensOf(text, file);
  const sections = new Map<string, readonly LoginModule[]>();
  const failAt = (line: number | undefined): never => {
    throw new UsageError(`line ${line ?? text.split("\n").length} of ${file} is not JAAS`, {
      hint: 'a section is Client { …DigestLoginModule required username="…" password="…"; };',
    });
  };
  const take = (wanted?: string): string => {
    const token = tokens.shift();
    const isWanted = wanted === undefined || (token?.text === wanted && !token.isString);
    const isSymbol = token !== undefined && !token.isString && /^[{};=]$/.test(token.text);
    if (token === undefined || !isWanted || (wanted === undefined && isSymbol))
      return failAt(token?.line);
    return token.text;
  };
  const isNext = (symbol: string) => tokens[0]?.text === symbol && !tokens[0].isString;
  while (tokens.length > 0) {
    const line = tokens[0]?.line;
    const name = take();
    if (sections.has(name))
      throw new UsageError(`a second section ${name} in line ${line} of ${file}`);
    take("{");
    const modules: LoginModule[] = [];
    while (!isNext("}")) {
      const className = take();
      take(); // required, requisite, sufficient or optional
      const options = new Map<string, string>();
      while (!isNext(";")) {
        const option = take();
        take("=");
        options.set(option, take());
      }
      take(";");
      modules.push({ className, options });
    }
    take("}");
    take(";");
    sections.set(name, modules);
  }
  return sections;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", f: "\f", b: "\b" };

function tokensOf(text: string, file: string): Token[] {
  const tokens: Token[] = [];
  const pattern = /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/|"((?:[^"\\\n]|\\.)*)"|([{};=])|([^\s{};="/]+)/gy;
  let line = 1;
  while (pattern.lastIndex < text.length) {
    const found = pattern.exec(text);
    if (found === null) throw new UsageError(`line ${line} of ${file} is not JAAS`);
    const [whole, quoted, symbol, word] = found;
    const token = quoted?.replace(/\\(?:([0-7]{1,3})|(.))/gs, unescaped) ?? symbol ?? word;
    if (token !== undefined) tokens.push({ text: token, isString: quoted !== undefined, line });
    line += whole.split("\n").length - 1;
  }
  return tokens;
}

function unescaped(_: string, octal: string | undefined, letter = ""): string {
  return octal === undefined
    ? (ESCAPES[letter] ?? letter)
    : String.fromCharCode(Number.parseInt(octal, 8));
}
