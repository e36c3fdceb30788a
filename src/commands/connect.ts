import { parseConnectString } from "../session/connect-string.ts";
import { optional, type ValueParser } from "./arguments.ts";
import { defineCommand } from "./command.ts";

const servers: ValueParser<string> = (text) => {
  parseConnectString(text);
  return text;
};

export const connect = defineCommand({
  details:
    "connect closes the present session, which ends its ephemeral znodes, watches and locks. " +
    "The identities of addauth and " +
    "--auth are sent again in the new session.",
  examples: ["connect"],
  effect: "none",
  args: {
    servers: optional(servers, "host[:port],…[/chroot] (default: the same servers as before)"),
  },
  options: {},
  async run({ shell, signal }, { servers: target }) {
    const { server = "", id: sessionId, isReadOnly } = await shell.connect(target, signal);
    return { kind: "connected", server, sessionId, isReadOnly };
  },
});
