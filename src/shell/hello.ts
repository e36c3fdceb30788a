/** What the shell says first. */
export function hello(version: string, { isEmbedded = false } = {}): string[] {
  const help = "help lists the commands, TAB completes, Ctrl-D leaves";
  if (!isEmbedded) return [`zksh ${version}: ${help}`];
  return [
    `zksh ${version} on a server of its own, in memory only: what you store is gone when you leave`,
    `${help}; zksh -s HOST:2181 connects to a real ensemble`,
  ];
}
