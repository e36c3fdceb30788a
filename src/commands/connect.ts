import { parseConnectString } from "../session/connect-string.ts";
import { optional, type ValueParser } from "./arguments.ts";
import { defineCommand } from "./command.ts";

const servers: ValueParser<string> = (text) => {
  parseConnectString(text);
  return text;
};

export const connect = defineCommand({
  details:
    "The session that was there ends, and its ephemerals and watches with it; identities are proved again in the new one.",
  examples: ["connect"],
  effect: "none",
  args: { servers: optional(servers, "host[:port],…[/chroot]; the same as before when left out") },
  options: {},
  async run({ shell, signal }, { servers: target }) {
    const { server = "", id: sessionId, isReadOnly } = await shell.connect(target, signal);
    return { kind: "connected", server, sessionId, isReadOnly };
  },
});
