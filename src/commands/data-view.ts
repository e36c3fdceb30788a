/** Views of what other systems store: `get --view`. */
import { OperationError } from "../errors.ts";
import type { DataResult } from "../results/znodes.ts";
import type { ViewKind } from "../text/stored/view.ts";
import { oneOf } from "./choices.ts";

const KINDS: readonly ViewKind[] = ["auto", "text", "json", "hex", "gzip", "java", "protobuf"];

export const viewKind = oneOf(KINDS, "view");

/** The first bytes of gzip, of a Java stream, of PBUF, and of HBase's metadata. */
const FIRST_BYTES: ReadonlySet<number | undefined> = new Set([0x1f, 0xac, 0x50, 0xff]);

/**
 * Adds the view that was asked for. People who asked for none get one where the first bytes name a
 * known kind. The parsers are loaded only for them.
 */
export async function viewed(
  result: DataResult,
  kind: ViewKind | undefined,
  isForPeople: boolean,
): Promise<DataResult> {
  const { data, path, encoding } = result;
  const bytes = data ?? Buffer.alloc(0);
  if (kind === undefined && !(isForPeople && encoding === "auto" && FIRST_BYTES.has(bytes[0])))
    return result;
  const { storedView, viewAs } = await import("../text/stored/view.ts");
  const { NotOfKindError } = await import("../text/stored/not-of-kind.ts");
  if (kind === undefined) return { ...result, view: storedView(bytes) };
  try {
    return { ...result, view: viewAs(kind, bytes) };
  } catch (cause) {
    if (!(cause instanceof NotOfKindError)) throw cause;
    const message = `${path} is not ${cause.kind}: ${cause.message}`;
    throw new OperationError("wrong-view", message, { cause, path });
  }
}
