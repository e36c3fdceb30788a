/** The first lines of the interactive shell. */
export function greeting(version: string, { isEmbedded = false } = {}): string[] {
  const help = "help lists the commands, TAB completes, Ctrl-D leaves";
  if (!isEmbedded) return [`zksh ${version}: ${help}`];
  return [
    `zksh ${version} on a server in memory only: what you store is gone when you leave`,
    "help lists the commands, Ctrl-D leaves; a real ensemble: zksh -s HOST:2181",
  ];
}
