/**
 * What other systems store in znodes, read only to be shown: gzip, Java-serialised strings and
 * protobuf. Nothing of it is trusted: sizes, depth and numbers of fields are limited.
 */
import { isJsonContainer, isReadable, whyNotJson } from "../readable.ts";
import { isGzip, unpackGzip } from "./gzip.ts";
import { isJavaStream, parseJavaString } from "./java-string.ts";
import { NotOfKindError } from "./not-of-kind.ts";
import { type ProtobufMessage, parseStoredProtobuf } from "./protobuf.ts";

export type ViewKind = "auto" | "text" | "json" | "hex" | "gzip" | "java" | "protobuf";

/** The bytes of a znode as one of the kinds. */
export type StoredView = UnpackedView | { readonly kind: "gzip"; readonly inside: UnpackedView };

type UnpackedView = PlainView | JavaView | ({ readonly kind: "protobuf" } & ProtobufMessage);

interface JavaView {
  readonly kind: "java";
  readonly inside: PlainView;
  /** Bytes of further objects, which are not shown. */
  readonly bytesBehind: number;
}

/** What needs no parser of its own. */
interface PlainView {
  readonly kind: "text" | "json" | "hex";
  readonly bytes: Buffer;
}

/** Throws NotOfKindError for bytes that are not of the kind; `auto` takes all. */
export function viewAs(kind: ViewKind, bytes: Buffer): StoredView {
  if (kind === "auto") return storedView(bytes) ?? plainView(bytes);
  if (kind === "text" || kind === "hex") return { kind, bytes };
  if (kind === "gzip") return gzipView(bytes);
  if (kind === "java") return javaView(bytes);
  if (kind === "protobuf") return { kind, ...parseStoredProtobuf(bytes, { needsMagic: false }) };
  const why = bytes.length === 0 ? "there is no data" : whyNotJson(bytes.toString());
  if (why !== undefined) throw new NotOfKindError("JSON", why);
  return { kind, bytes };
}

/** Chosen by the first bytes; undefined for text, JSON, and bytes of no known kind. */
export function storedView(bytes: Buffer): StoredView | undefined {
  return ifOfKind(() => (isGzip(bytes) ? gzipView(bytes) : structuredView(bytes)));
}

/** Gzip within gzip stays packed: each level could be a thousand times larger. */
function gzipView(bytes: Buffer): StoredView {
  const unpacked = unpackGzip(bytes);
  return { kind: "gzip", inside: ifOfKind(() => structuredView(unpacked)) ?? plainView(unpacked) };
}

function structuredView(bytes: Buffer): UnpackedView | undefined {
  if (isJavaStream(bytes)) return javaView(bytes);
  const isProtobuf = bytes[0] === 0x50 || bytes[0] === 0xff;
  if (!isProtobuf) return undefined;
  return { kind: "protobuf", ...parseStoredProtobuf(bytes, { needsMagic: true }) };
}

function javaView(bytes: Buffer): JavaView {
  const { text, bytesBehind } = parseJavaString(bytes);
  const kind = isJsonContainer(text) ? "json" : "text";
  return { kind: "java", inside: { kind, bytes: Buffer.from(text) }, bytesBehind };
}

function ifOfKind<View>(read: () => View): View | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof NotOfKindError) return undefined;
    throw error;
  }
}

function plainView(bytes: Buffer): PlainView {
  if (!isReadable(bytes)) return { kind: "hex", bytes };
  return { kind: isJsonContainer(bytes.toString()) ? "json" : "text", bytes };
}
