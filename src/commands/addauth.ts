import { UsageError } from "../errors.ts";
import { optional, required, word } from "./arguments.ts";
import { defineCommand } from "./command.ts";

export const addauth = defineCommand({
  details:
    "addauth digest USER asks for the password and does not show it. The identity belongs to " +
    "this session and to every " +
    "later session of the same shell. For a single command, use --auth SCHEME:CRED. SASL is another thing: see help sasl.",
  examples: ["addauth digest ann", "addauth digest ann:secret"],
  effect: "none",
  args: {
    scheme: required(word, "digest, or another scheme that the server knows"),
    auth: optional(
      word,
      "the credential: USER:PASSWORD for digest, or USER to be asked for the password",
    ),
  },
  options: {},
  secret({ scheme, auth }) {
    if (!wantsPassword(scheme, auth)) return undefined;
    const instead = `addauth digest ${auth}:PASSWORD or --auth-file`;
    return { question: `Password for ${auth}`, what: `${auth}'s password`, instead };
  },
  async run({ shell, signal, input }, { scheme, auth = "" }) {
    // `addauth digest:ann:secret` is the form of --auth. The word holds the password, so it must
    // neither be sent to the server as a scheme nor appear on the screen.
    if (scheme.includes(":")) {
      throw new UsageError("a scheme contains no colon", {
        hint: "write addauth SCHEME CRED, for example addauth digest USER",
      });
    }
    // Servers refuse the scheme and hang up: the login comes before anything else on a connection.
    if (scheme.toLowerCase() === "sasl") {
      throw new UsageError("addauth cannot log in by SASL", {
        hint: "start zksh with --sasl digest:USER, --sasl gssapi or --jaas FILE",
      });
    }
    if (scheme === "digest" && auth === "") {
      throw new UsageError("the digest scheme needs a user", {
        hint: "addauth digest USER asks for the password",
      });
    }
    const credential = wantsPassword(scheme, auth) ? `${auth}:${input.secret ?? ""}` : auth;
    await shell.authenticate(scheme, Buffer.from(credential), signal);
    return { kind: "identified", scheme, isShortLived: shell.isOneShot };
  },
});

function wantsPassword(scheme: string, auth: string | undefined): boolean {
  return scheme === "digest" && auth !== undefined && auth !== "" && !auth.includes(":");
}
