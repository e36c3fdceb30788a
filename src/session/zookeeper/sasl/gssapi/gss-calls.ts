/** The system's GSSAPI library (RFC 2744), called through the package koffi. */
import type { LibraryHandle } from "koffi";
import type { GssapiFailure } from "./messages.ts";

export type Koffi = typeof import("koffi").default;
type TypeSpec = Parameters<Koffi["inout"]>[0];

/** MIT's library by its names on Linux and macOS, there also as Homebrew installs it. */
const LIBRARIES: readonly string[] = [
  "libgssapi_krb5.so.2",
  "/opt/homebrew/opt/krb5/lib/libgssapi_krb5.dylib",
  "/usr/local/opt/krb5/lib/libgssapi_krb5.dylib",
  "libgssapi_krb5.dylib",
];

const PR_SET_PDEATHSIG = 1;
const SIGKILL = 9;

export class GssError extends Error {
  readonly failure: GssapiFailure;

  constructor(failure: GssapiFailure) {
    super(failure.text);
    this.failure = failure;
  }
}

export type GssCalls = ReturnType<typeof declareCalls>;

/** Throws GssError where the package or the library is missing. */
export async function loadCalls(): Promise<{ koffi: Koffi; calls: GssCalls }> {
  const koffi = await loadKoffi();
  dieWithParent(koffi);
  return { koffi, calls: declareCalls(koffi, loadLibrary(koffi)) };
}

async function loadKoffi(): Promise<Koffi> {
  try {
    return (await import("koffi")).default;
  } catch (error) {
    const [text = ""] = (error as Error).message.split("\n");
    throw new GssError({ missing: "package", text });
  }
}

function loadLibrary(koffi: Koffi): LibraryHandle {
  const reasons: string[] = [];
  for (const name of LIBRARIES) {
    try {
      return koffi.load(name);
    } catch (error) {
      reasons.push((error as Error).message);
    }
  }
  throw new GssError({ missing: "library", text: reasons[0] ?? "" });
}

/**
 * On Linux: a call may wait a minute for a KDC, without noticing that its session has been killed.
 */
function dieWithParent(koffi: Koffi): void {
  if (process.platform !== "linux") return;
  koffi.load(null).func("prctl", "int", ["int", "unsigned long"])(PR_SET_PDEATHSIG, SIGKILL);
}

function declareCalls(koffi: Koffi, library: LibraryHandle) {
  const { pointer, struct, out: out_, inout: inout_ } = koffi;
  const buffer = struct({ length: "size_t", value: "void *" });
  const oid = struct({ length: "uint32_t", elements: "void *" });
  const oids = struct({ count: "size_t", elements: pointer(oid) });
  const storeEntry = struct({ key: "str", value: "str" });
  const store = struct({ count: "uint32_t", elements: pointer(storeEntry) });
  const minor = out_(pointer("uint32_t"));
  const handle = "void *";
  const newHandle = out_(pointer("void *"));
  const handleInOut = inout_(pointer("void *"));
  const bytes = pointer(buffer);
  const filled = out_(pointer(buffer));
  const declare = (name: string, parameters: TypeSpec[]) =>
    library.func(`gss_${name}`, "uint32_t", parameters);
  return {
    importName: declare("import_name", [minor, bytes, pointer(oid), newHandle]),
    displayName: declare("display_name", [minor, handle, filled, handle]),
    releaseName: declare("release_name", [minor, handleInOut]),
    acquire: declare("acquire_cred_from", [
      minor,
      handle,
      "uint32_t",
      pointer(oids),
      "int",
      pointer(store),
      newHandle,
      handle,
      handle,
    ]),
    inquire: declare("inquire_cred", [minor, handle, newHandle, handle, handle, handle]),
    releaseCredentials: declare("release_cred", [minor, handleInOut]),
    initialize: declare("init_sec_context", [
      minor,
      handle,
      handleInOut,
      handle,
      pointer(oid),
      "uint32_t",
      "uint32_t",
      handle,
      bytes,
      handle,
      filled,
      out_(pointer("uint32_t")),
      handle,
    ]),
    deleteContext: declare("delete_sec_context", [minor, handleInOut, handle]),
    unwrap: declare("unwrap", [minor, handle, bytes, filled, handle, handle]),
    wrap: declare("wrap", [minor, handle, "int", "uint32_t", bytes, handle, filled]),
    displayStatus: declare("display_status", [
      minor,
      "uint32_t",
      "int",
      pointer(oid),
      inout_(pointer("uint32_t")),
      filled,
    ]),
    releaseBuffer: declare("release_buffer", [minor, inout_(pointer(buffer))]),
  };
}
