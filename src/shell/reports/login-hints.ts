/** Hints about identities: what to log in with where a login or a request was refused. */
import type { Variables } from "../../config/setting-reader.ts";
import { PermissionError } from "../../errors.ts";
import { parentPath } from "../../session/path.ts";
import type { Acl, Session } from "../../session/session.ts";
import { quoteWord } from "../../text/quote-word.ts";
import type { Explanation } from "./explain-refusal.ts";
import { askAround, type Sessions } from "./missing-znode.ts";

/** What else is known of a refusal. */
export interface Refused {
  readonly command: string | undefined;
  /** `--jaas FILE`, if the environment of Java clients names such a file, and zksh was not told. */
  readonly jaasOption: string | undefined;
}

/**
 * `--jaas FILE[#Section]` for the file that zkCli would read: its scripts pass on JVMFLAGS and
 * CLIENT_JVMFLAGS.
 */
export function jaasOption(env: Variables, isUsed: boolean): string | undefined {
  if (isUsed) return undefined;
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
  for (const [, property, quoted, plain] of flags.matchAll(/-D([\w.]+)=(?:"([^"]*)"|(\S*))/g))
    if (property === name) return quoted ?? plain;
  return undefined;
}

/** Hints by the reason of an error, with the JAAS file that Java clients use. */
export function loginHint(error: unknown, { jaasOption: jaas }: Refused): string | undefined {
  if (!(error instanceof PermissionError) || jaas === undefined) return undefined;
  if (error.reason === "sasl-required" || error.reason === "sasl-refused")
    return `log in with ${jaas}`;
  return undefined;
}

/**
 * After NoAuth: names the option that makes this session one that the ACL lets in. Undefined where
 * the server does not show the ACL, and where the ACL lets no such identity in.
 */
export async function explainNoAuth(
  { path }: PermissionError,
  sessions: Sessions,
  refused: Refused,
): Promise<Explanation | undefined> {
  if (path === undefined || path === "") return undefined;
  const isOfParent = refused.command === "create" || refused.command === "delete";
  const places = isOfParent ? [parentPath(path)] : [path, parentPath(path)];
  return askAround(sessions, async (session, signal) => {
    for (const place of places) {
      const acl = await aclOf(session, place, signal);
      const hint = acl && hintOf(place, acl, refused);
      if (hint !== undefined) return { hint };
    }
    return undefined;
  });
}

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

/** The commonest confusion: the scheme digest is not SASL DIGEST-MD5, and each needs its option. */
function hintOf(
  path: string,
  acl: readonly Acl[],
  { jaasOption: jaas }: Refused,
): string | undefined {
  const named = (scheme: string) => acl.find((entry) => entry.scheme === scheme)?.id;
  const sasl = named("sasl");
  if (sasl !== undefined)
    return `the ACL of ${path} names sasl:${sasl}: log in with ${jaas ?? `--sasl ${quoteWord(`digest:${sasl}`)}`}`;
  const x509 = named("x509");
  if (x509 !== undefined)
    return `the ACL of ${path} names x509:${x509}: connect with its certificate, --tls-cert and --tls-key`;
  const user = named("digest")?.split(":", 1)[0];
  if (user === undefined) return undefined;
  return `the ACL of ${path} names the digest of ${user}: use --auth-file FILE with digest:${user}:PASSWORD, or addauth digest ${quoteWord(user)} at the prompt`;
}
