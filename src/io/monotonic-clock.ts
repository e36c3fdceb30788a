/** Milliseconds of a clock that never jumps and is the same for all processes of the machine. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
