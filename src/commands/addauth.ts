import { UsageError } from "../errors.ts";
import { optional, required, word } from "./arguments.ts";
import { defineCommand } from "./command.ts";

export const addauth = defineCommand({
  details:
    "addauth digest USER asks for the password, unseen. The identity goes with this session and with every later one of " +
    "the same shell. For a single command use --auth SCHEME:CRED.",
  examples: ["addauth digest ann", "addauth digest ann:secret"],
  effect: "none",
  args: {
    scheme: required(word, "how to prove it: digest, or another scheme that the server has"),
    auth: optional(
      word,
      "the proof: USER:PASSWORD for digest, or USER to be asked for the password",
    ),
  },
  options: {},
  secret({ scheme, auth }) {
    if (!wantsPassword(scheme, auth)) return undefined;
    const instead = `addauth digest ${auth}:PASSWORD or --auth-file`;
    return { question: `Password for ${auth}`, what: `${auth}'s password`, instead };
  },
  async run({ shell, signal, secret, isOneShot }, { scheme, auth = "" }) {
    // As --auth has it. The word holds the password: it must reach neither the server as a scheme
    // nor the screen.
    if (scheme.includes(":")) {
      throw new UsageError("a scheme has no colon in it", {
        hint: "addauth SCHEME CRED, as in addauth digest USER",
      });
    }
    if (scheme === "digest" && auth === "") {
      throw new UsageError("digest needs a user", {
        hint: "addauth digest USER asks for the password",
      });
    }
    const credential = wantsPassword(scheme, auth) ? `${auth}:${secret ?? ""}` : auth;
    await shell.identify(scheme, Buffer.from(credential), signal);
    return { kind: "identified", scheme, isShortLived: isOneShot };
  },
});

function wantsPassword(scheme: string, auth: string | undefined): boolean {
  return scheme === "digest" && auth !== undefined && auth !== "" && !auth.includes(":");
}
