/** Reads JAAS login configurations, by the rules of the JDK's ConfigFile. */
import { UsageError } from "../errors.ts";
import type { GssapiOptions, SaslOptions } from "../session/options.ts";

interface LoginModule {
  readonly className: string;
  readonly options: ReadonlyMap<string, string>;
}

type Sections = ReadonlyMap<string, readonly LoginModule[]>;

/** The login of a section of `file`. Messages never repeat a password. Throws UsageError. */
export function jaasLogin(text: string, file: string, section: string): SaslOptions {
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
  const moduleOf = (name: string) => modules.find(({ className }) => isModule(className, name));
  // Beside a password, Kerberos is what Java clients try without a need for it.
  const digest = moduleOf("DigestLoginModule");
  if (digest !== undefined) return digestLogin(digest.options, where);
  const kerberos = moduleOf("Krb5LoginModule");
  if (kerberos !== undefined) return kerberosLogin(kerberos.options, where);
  const names = modules.map(({ className }) => className).join(", ");
  throw new UsageError(
    `${where} has no DigestLoginModule and no Krb5LoginModule, but ${names || "nothing"}`,
  );
}

function digestLogin(options: LoginModule["options"], where: string): SaslOptions {
  const [username, password] = ["username", "password"].map((name) => options.get(name));
  if (!username) throw new UsageError(`no username in ${where}`);
  if (password === undefined) throw new UsageError(`no password in ${where}`);
  return { mechanism: "DIGEST-MD5", username, password };
}

/** Options that say how Java stores and asks for things have no meaning here. */
const OF_JAVA: readonly string[] = [
  "storeKey",
  "doNotPrompt",
  "renewTGT",
  "refreshKrb5Config",
  "debug",
  "useFirstPass",
  "tryFirstPass",
  "storePass",
  "clearPass",
];
const HONOURED: readonly string[] = [
  "useKeyTab",
  "keyTab",
  "principal",
  "useTicketCache",
  "ticketCache",
];

/** A keytab wins over tickets: it can log in again when they have expired. */
function kerberosLogin(options: LoginModule["options"], where: string): GssapiOptions {
  const unknown = [...options.keys()].find((name) => ![...OF_JAVA, ...HONOURED].includes(name));
  if (unknown !== undefined)
    throw new UsageError(`zksh does not know the option ${unknown} of ${where}`, {
      hint: "remove it, or log in with --sasl gssapi",
    });
  const isOn = (name: string) => options.get(name)?.toLowerCase() === "true";
  const [keytab, cache] = [options.get("keyTab"), options.get("ticketCache")];
  const principal = options.get("principal");
  const who = { mechanism: "GSSAPI", ...(principal && { principal }) } as const;
  if (isOn("useKeyTab")) {
    if (!keytab) throw new UsageError(`no keyTab in ${where}`);
    return { ...who, keytab: keytab.replace(/^FILE:/, "") };
  }
  if (isOn("useTicketCache")) return { ...who, ...(cache && { ticketCache: cache }) };
  throw new UsageError(`${where} uses neither a keytab nor the ticket cache`, {
    hint: 'add useTicketCache=true, or useKeyTab=true keyTab="FILE"',
  });
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
