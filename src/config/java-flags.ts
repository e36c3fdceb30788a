/** `-Dname=value` in the flags that start Java programs. */

export type Property = readonly [name: string, value: string];

/** In their order; a value in double or single quotes may have blanks. */
export function javaFlags(flags: string): Property[] {
  const pattern = /(?:^|\s)-D([\w.-]+)(?:=(?:"([^"]*)"|'([^']*)'|(\S*)))?/g;
  return [...flags.matchAll(pattern)].map(
    ([, name = "", double, single, plain = ""]) => [name, double ?? single ?? plain] as const,
  );
}
