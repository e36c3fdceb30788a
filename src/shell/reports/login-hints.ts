/** Hints about identities: what to log in with where a login or a request was refused. */
import { javaFlags } from "../../config/java-flags.ts";
import type { Variables } from "../../config/setting-reader.ts";
import type { PermissionError } from "../../errors.ts";
import { parentPath } from "../../session/path.ts";
import type { Acl, Session } from "../../session/session.ts";
import { quoteWord } from "../../text/quote-word.ts";
import type { Explanation } from "./explain-refusal.ts";
import { askAround, type Sessions } from "./missing-znode.ts";

/** What else is known of a request or a login that was refused. */
export interface Denied {
  readonly command: string | undefined;
  readonly env: Variables;
  /** zksh itself logs in by a JAAS file. */
  readonly isJaasUsed: boolean;
}

/**
 * After NoAuth: names the option that makes this session one that the ACL lets in. After a refused
 * login: the file that Java clients would use. Undefined where nothing more can be said.
 */
export async function explainDenial(
  error: PermissionError,
  sessions: Sessions,
  { command, env, isJaasUsed }: Denied,
): Promise<Explanation | undefined> {
  const jaas = isJaasUsed ? undefined : jaasOption(env);
  if (error.reason === "no-auth") return explainNoAuth(error, sessions, command, jaas);
  const isLogin = error.reason === "sasl-required" || error.reason === "sasl-refused";
  return isLogin && jaas !== undefined ? { hint: `log in with ${jaas}` } : undefined;
}

/**
 * `--jaas FILE[#Section]` for the file that zkCli would read: its scripts pass on JVMFLAGS and
 * CLIENT_JVMFLAGS.
 */
function jaasOption(env: Variables): string | undefined {
  for (const name of ["CLIENT_JVMFLAGS", "JVMFLAGS"]) {
    const flags = env[name] ?? "";
    const file = propertyOf("java.security.auth.login.config", flags)?.replace(/^=/, "");
    if (!file) continue;
    const section = propertyOf("zookeeper.sasl.clientconfig", flags);
    return `--jaas ${quoteWord(section ? `${file}#${section}` : file)} (${name} names this file)`;
  }
  return undefined;
}

function propertyOf(name: string, flags: string): string | undefined {
  return javaFlags(flags).find(([property]) => property === name)?.[1];
}

async function explainNoAuth(
  { path }: PermissionError,
  sessions: Sessions,
  command: string | undefined,
  jaas: string | undefined,
): Promise<Explanation | undefined> {
  if (path === undefined || path === "") return undefined;
  const isOfParent = command === "create" || command === "delete";
  const places = isOfParent ? [parentPath(path)] : [path, parentPath(path)];
  return askAround(sessions, async (session, signal) => {
    for (const place of places) {
      const acl = await aclOf(session, place, signal);
      if (acl === undefined) continue;
      const hint = hintOf(place, acl, jaas);
      return hint === undefined ? undefined : { hint };
    }
    return undefined;
  });
}

/** Undefined if the server does not show it to this session. */
async function aclOf(
  session: Session,
  path: string,
  signal: AbortSignal,
): Promise<readonly Acl[] | undefined> {
  try {
    return (await session.getAcl(path, { signal })).acl;
  } catch {
    return undefined;
  }
}

/** A principal of Kerberos tells itself by its realm; a shortened one looks like another user. */
function loginOf(user: string): string {
  if (/[@/]/.test(user)) return "--sasl gssapi";
  return `--sasl ${quoteWord(`digest:${user}`)}, or with --sasl gssapi (Kerberos)`;
}

/** The commonest confusion: the scheme digest is not SASL DIGEST-MD5, and each needs its option. */
function hintOf(path: string, acl: readonly Acl[], jaas: string | undefined): string | undefined {
  const named = (scheme: string) => acl.find((entry) => entry.scheme === scheme)?.id;
  const sasl = named("sasl");
  if (sasl !== undefined)
    return `the ACL of ${path} names sasl:${sasl}: log in with ${jaas ?? loginOf(sasl)}`;
  const x509 = named("x509");
  if (x509 !== undefined)
    return `the ACL of ${path} names x509:${x509}: connect with its certificate, --tls-keystore FILE or --tls-cert and --tls-key`;
  const user = named("digest")?.split(":", 1)[0];
  if (user === undefined) return undefined;
  return `the ACL of ${path} names the digest of ${user}: use --auth-file FILE with digest:${user}:PASSWORD, or addauth digest ${quoteWord(user)} at the prompt`;
}
