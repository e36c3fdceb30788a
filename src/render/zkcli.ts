/** stdout as Apache zkCli 3.8 writes it, byte for byte, and its error texts; only a terminal is spared control characters. */
import type { DataResult } from "../result.ts";
import type { Stat } from "../session/session.ts";
import { framedHexDump } from "./bytes.ts";
import { escapeName, escapeText } from "./escape.ts";
import { javaDate } from "./java-date.ts";
import { type Renderer, type ResultRenderers, renderWith, type View } from "./renderer.ts";
import { statLines } from "./stat.ts";
import { textRenderer } from "./text.ts";
import { zkcliError } from "./zkcli-errors.ts";

export function zkcliRenderer(view: View): Renderer {
  const renderers = zkcliRenderers(view);
  return { result: (result) => renderWith(renderers, result), error: zkcliError };
}

function zkcliRenderers(view: View): ResultRenderers {
  const name = view.isTTY ? escapeName : (text: string) => text;
  const text = view.isTTY ? escapeText : (raw: string) => raw;
  // zkCli has no help; its own is printed with an unknown command, to stderr.
  const help = textRenderer(view);
  return {
    data: (result) => ({ out: `${text(zkcliData(result))}\n${result.withStat ? block(result.stat) : ""}` }),
    children: ({ children, stat }) => ({ out: `[${children.map(name).join(", ")}]\n${stat ? block(stat) : ""}` }),
    paths: ({ paths }) => ({ out: paths.map((path) => `${name(path)}\n`).join("") }),
    created: ({ path }) => ({ err: `Created ${name(path)}\n` }),
    changed: ({ stat, withStat }) => ({ out: withStat ? block(stat) : "" }),
    deleted: () => ({}),
    existence: ({ exists }) => ({ out: `${exists}\n` }),
    stat: ({ stat }) => ({ out: block(stat) }),
    help: help.result,
    "command-help": help.result,
    version: ({ version }) => ({ out: `ZooKeeper CLI version: zksh-${version}\n` }),
  };
}

function block(stat: Stat): string {
  return statLines(stat, javaDate);
}

/** No data at all becomes the word null before it is formatted, as in zkCli. */
function zkcliData({ data, encoding }: DataResult): string {
  const bytes = data ?? Buffer.from("null");
  if (encoding === "hex") return framedHexDump(bytes);
  return bytes.toString(encoding === "base64" ? "base64" : "utf8");
}
