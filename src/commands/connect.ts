import { parseConnectString } from "../session/connect-string.ts";
import { optional, type ValueParser } from "./arguments.ts";
import { type Context, defineCommand } from "./command.ts";

const servers: ValueParser<string> = (text) => {
  if (!text.startsWith("@")) parseConnectString(text);
  return text;
};

export const connect = defineCommand({
  details:
    "connect closes the present session, which ends its ephemeral znodes, watches and locks. " +
    "The identities of addauth and --auth are sent again in the new session. connect @NAME takes " +
    "servers, credentials and rules of a profile; connect HOSTS leaves the profile. connect alone " +
    "asks which, where there are profiles and a person to ask.",
  examples: ["connect", "connect @prod"],
  effect: "none",
  args: {
    servers: optional(servers, "host[:port],…[/chroot] or @PROFILE (default: as before)"),
  },
  options: {},
  async run(context, { servers: given }) {
    const { shell, signal } = context;
    const target = given ?? (await choose(context));
    // An unknown profile is refused while the present session is still there.
    if (target !== undefined) context.writesAt(target);
    const { server = "", id: sessionId, isReadOnly } = await shell.connect(target, signal);
    return { kind: "connected", server, sessionId, isReadOnly };
  },
});

/** Undefined for the same servers. */
async function choose({ shell, program, input }: Context): Promise<string | undefined> {
  const { profiles } = program;
  if (!shell.isInteractive || profiles.length === 0) return undefined;
  return input.interview?.choose<string | undefined>("Connect to", [
    { name: "the same servers", value: undefined },
    ...profiles.map((name) => ({ name: `@${name}`, value: `@${name}` })),
  ]);
}
