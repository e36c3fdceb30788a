import type { Rendered } from "../render/renderer.ts";

/** Draws frames on a terminal, each over the one before. */
export class Frame {
  #height = 0;

  /** Returns the text to write. After other output the next frame begins below that output. */
  place({ isFrame = false, ...rendered }: Rendered): Rendered {
    const { out = "", err = "" } = rendered;
    if (!isFrame || typeof out !== "string") {
      if (out.length + err.length > 0) this.#height = 0;
      return rendered;
    }
    const up = this.#height === 0 ? "" : `\x1b[${this.#height}A`;
    this.#height = err === "" ? out.split("\n").length - 1 : 0;
    // Overwrite line by line and clear the rest last: clearing first would flicker.
    return { ...rendered, out: `${up}\r${out.replaceAll("\n", "\x1b[K\n")}\x1b[J` };
  }
}
