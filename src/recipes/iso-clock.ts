/**
 * Tells the time as Date's toISOString does, which is a large part of a short acquire: within a
 * second only milliseconds are new.
 */
export class IsoClock {
  #second = Number.NaN;
  #upToSecond = "";

  now(ms = Date.now()): string {
    const rest = ms % 1000;
    if (ms - rest !== this.#second) {
      this.#second = ms - rest;
      this.#upToSecond = new Date(this.#second).toISOString().slice(0, -"000Z".length);
    }
    return `${this.#upToSecond}${rest < 100 ? "0" : ""}${rest < 10 ? "0" : ""}${rest}Z`;
  }
}
