/** Views of what other systems store, as lines and as JSON. */

import { formatSize } from "../text/size.ts";
import type { ProtobufField, ProtobufValue } from "../text/stored/protobuf.ts";
import type { StoredView } from "../text/stored/view.ts";
import type { TextLine } from "./first-rows.ts";

/** What is shown, in a few words; undefined for a view that shows the bytes as they are. */
export function viewTitle(view: StoredView): string | undefined {
  switch (view.kind) {
    case "gzip":
      return `gzip, ${inside(view.inside)} inside`;
    case "java": {
      const { bytesBehind } = view;
      const more = bytesBehind > 0 ? `, ${formatSize(bytesBehind)} behind it not shown` : "";
      return `Java-serialised string${view.inside.kind === "json" ? " of JSON" : ""}${more}`;
    }
    case "protobuf": {
      const { hasMagic, writer, fields } = view;
      const by = writer === undefined ? "" : ` written by ${writer}`;
      return `protobuf${hasMagic ? " (PBUF)" : ""}${by}${fields.length === 0 ? ", no fields" : ""}`;
    }
    default:
      return undefined;
  }
}

function inside(view: StoredView): string {
  if (view.kind === "text" || view.kind === "json" || view.kind === "hex") {
    const what = { text: "text", json: "JSON", hex: "binary data" }[view.kind];
    return `${formatSize(view.bytes.length)} of ${what}`;
  }
  return `a ${viewTitle(view)}`;
}

/** A line for each field, indented by the depth of its message. */
export function* protobufLines(fields: readonly ProtobufField[]): Generator<TextLine> {
  let end = 0;
  for (const text of fieldLines(fields, "")) {
    end += text.length + 1;
    yield { text, end };
  }
}

function* fieldLines(fields: readonly ProtobufField[], indentation: string): Generator<string> {
  for (const { number, value } of fields) {
    yield `${indentation}${number} ${value.wire}${valueText(value)}`;
    if (value.wire === "message") yield* fieldLines(value.fields, `${indentation}  `);
  }
}

function valueText(value: ProtobufValue): string {
  switch (value.wire) {
    case "message":
      return "";
    case "text":
      return ` ${JSON.stringify(value.value)}`;
    case "bytes":
      return ` ${value.value.toString("hex")}`;
    default:
      return ` ${value.value}${negative(value)}`;
  }
}

/** Negative numbers of the types int32, int64 and sfixed look like very large ones. */
function negative({ wire, value }: { readonly wire: string; readonly value: bigint }): string {
  const signed = BigInt.asIntN(wire === "fixed32" ? 32 : 64, value);
  return signed < 0n ? ` (${signed})` : "";
}

export function jsonView(view: StoredView): object {
  switch (view.kind) {
    case "text":
    case "json":
      return { kind: view.kind, text: view.bytes.toString() };
    case "hex":
      return { kind: view.kind, hex: view.bytes.toString("hex") };
    case "gzip":
      return { kind: view.kind, inside: jsonView(view.inside) };
    case "java":
      return { kind: view.kind, bytesBehind: view.bytesBehind, inside: jsonView(view.inside) };
    case "protobuf": {
      const { kind, hasMagic, writer, fields } = view;
      return {
        kind,
        hasMagic,
        ...(writer !== undefined && { writer }),
        fields: fields.map(jsonField),
      };
    }
  }
}

function jsonField({ number, value }: ProtobufField): object {
  const { wire } = value;
  switch (wire) {
    case "message":
      return { field: number, wire, fields: value.fields.map(jsonField) };
    case "bytes":
      return { field: number, wire, value: value.value.toString("hex") };
    default:
      return { field: number, wire, value: String(value.value) };
  }
}
