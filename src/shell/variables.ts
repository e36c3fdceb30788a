import { UsageError } from "../errors.ts";
import { ExitCode } from "../exit-codes.ts";

/** The variables of a script or of the prompt: results that lines have kept, `$?` and `$_`. */
export class Variables {
  readonly #values = new Map<string, string>();
  /** `$?`: the exit code of the last line. */
  exitCode: number = ExitCode.ok;
  /** `$_`: the last word of the last line. */
  lastWord = "";

  set(name: string, value: string): void {
    this.#values.set(name, value);
  }

  /** Returns undefined for a variable without a value. */
  get(name: string): string | undefined {
    if (name === "?") return String(this.exitCode);
    return name === "_" ? this.lastWord : this.#values.get(name);
  }
}

/** Throws UsageError for a name that zksh sets itself. */
export function refuseOwnName(name: string): void {
  if (name !== "_") return;
  throw new UsageError("$_ is set by zksh: it is the last word of the line before", {
    hint: "choose another name",
  });
}
