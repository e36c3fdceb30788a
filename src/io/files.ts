/** The files that zksh reads and writes. */

export interface Files {
  read(path: string): Promise<Buffer>;
  /** Replaces a file in one step: a reader never sees half of it. */
  write(path: string, data: string | Uint8Array): Promise<void>;
  /** Why a file could not be written; undefined when it probably can. */
  cannotWrite(path: string): Promise<string | undefined>;
  /** The bytes of a file that may be larger than memory. */
  stream(path: string): AsyncIterable<Uint8Array>;
  /** Begins a file that is written piece by piece and replaces `path` in one step. */
  draft(path: string): Promise<FileDraft>;
  /** A file for another program to change. The caller discards it, or tells the user its path. */
  scratch(name: string, data: Uint8Array): Promise<ScratchFile>;
  /** What is at `path`; undefined: nothing. */
  kind(path: string, options: { readonly followsLink: boolean }): Promise<FileKind | undefined>;
  /** What is in a folder, sorted by UTF-16 unit. */
  list(path: string): Promise<readonly FolderEntry[]>;
  /** Makes a folder in one that exists; false where there is a folder already. */
  makeFolder(path: string): Promise<boolean>;
}

/** `other` is a link that is not followed, a pipe, a device or a socket. */
export type FileKind = "file" | "folder" | "other";

export interface FolderEntry {
  readonly name: string;
  readonly kind: FileKind;
}

/** A file of ours in a directory of its own; other users can read neither. */
export interface ScratchFile {
  readonly path: string;
  read(): Promise<Buffer>;
  /** Cuts it off behind so many bytes. */
  truncate(length: number): Promise<void>;
  /** Names of other files in its directory, such as the swap file of an editor that was killed. */
  neighbours(): Promise<readonly string[]>;
  /** Removes the directory. */
  discard(): Promise<void>;
}

/** A file in the making; other programs do not see it before it is complete. */
export interface FileDraft {
  /** False for a pipe or a device, which gets each piece at once. */
  readonly isFile: boolean;
  write(text: string): Promise<void>;
  /** What has been written. Only of a file. */
  read(): AsyncIterable<Uint8Array>;
  /** Puts it in the place of the file. */
  commit(): Promise<void>;
  /** Removes it. Does nothing after {@link commit}. */
  discard(): Promise<void>;
}
