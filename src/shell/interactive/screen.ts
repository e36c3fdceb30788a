import type { Progress } from "../../io/progress.ts";
import type { Theme } from "../../render/theme.ts";
import { escapeName } from "../../text/escape.ts";
import type { LineEditor } from "./line-editor.ts";

/** Prints above the line that is being typed, in place of a spinner. */
export class Screen {
  readonly editor: LineEditor;
  readonly progress: Progress;
  readonly theme: Theme;

  constructor(editor: LineEditor, progress: Progress, theme: Theme) {
    this.editor = editor;
    this.progress = progress;
    this.theme = theme;
  }

  /** Prints a message of the shell itself, as one faint line. */
  message(text: string): void {
    this.print(`${this.theme.faint(escapeName(text))}\n`);
  }

  print(text: string | Uint8Array): void {
    this.progress.stop();
    this.editor.print(text.toString());
  }
}
