import type { Rendered } from "../render/renderer.ts";

/** Puts pictures on a terminal, each in the place of the one before. */
export class Frame {
  #height = 0;

  /**
   * What has to be written for it. Whatever is written in between, the next picture begins below
   * it.
   */
  place({ isFrame = false, ...rendered }: Rendered): Rendered {
    const { out = "", err = "" } = rendered;
    if (!isFrame || typeof out !== "string") {
      if (out.length + err.length > 0) this.#height = 0;
      return rendered;
    }
    const up = this.#height === 0 ? "" : `\x1b[${this.#height}A`;
    this.#height = err === "" ? out.split("\n").length - 1 : 0;
    // Line by line over the old ones, then nothing below: clearing first would flicker.
    return { ...rendered, out: `${up}\r${out.replaceAll("\n", "\x1b[K\n")}\x1b[J` };
  }
}
