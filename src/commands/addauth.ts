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
    auth: optional(word, "the proof: USER:PASSWORD for digest, or USER to be asked for the password"),
  },
  options: {},
  secret: ({ scheme, auth }) => (wantsPassword(scheme, auth) ? `Password for ${auth}` : undefined),
  async run({ shell, signal, secret, isOneShot }, { scheme, auth = "" }) {
    if (scheme === "digest" && auth === "") {
      throw new UsageError("digest needs a user", { hint: "addauth digest USER asks for the password" });
    }
    const credential = wantsPassword(scheme, auth) ? `${auth}:${secret ?? ""}` : auth;
    await shell.identify(scheme, Buffer.from(credential), signal);
    return { kind: "identified", scheme, isShortLived: isOneShot };
  },
});

function wantsPassword(scheme: string, auth: string | undefined): boolean {
  return scheme === "digest" && auth !== undefined && auth !== "" && !auth.includes(":");
}
