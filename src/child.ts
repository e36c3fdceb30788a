/** A program that is run for the user: what commands ask for, and what they hear of it. */

export interface ChildRequest {
  /** The program and its arguments, as they are: no shell looks at them. */
  readonly argv: readonly [string, ...string[]];
  /** Added to the environment. */
  readonly env: Readonly<Record<string, string>>;
  /** The bytes on its stdin. */
  readonly input: Buffer;
  /** Stops the program and everything it has started. */
  readonly signal: AbortSignal;
}

/** How it ended: with a code, or by a signal. */
export type ChildEnd = { readonly code: number } | { readonly killedBy: string };
