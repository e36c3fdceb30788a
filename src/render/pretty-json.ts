/**
 * Indents an object or array by two, or returns undefined when the text is not one. Numbers and strings stay exactly
 * as they are written: parsing and printing them again would change long numbers and escapes.
 */
export function prettyJson(text: string): string | undefined {
  if (!/^\s*[[{]/.test(text) || !isJson(text)) return undefined;
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  let pretty = "";
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    if (/^[}\]]$/.test(token)) {
      depth -= 1;
      pretty += /^[{[]$/.test(tokens[index - 1] ?? "") ? token : newLine(depth) + token;
    } else if (/^[{[]$/.test(token)) {
      depth += 1;
      pretty += token + (/^[}\]]$/.test(tokens[index + 1] ?? "") ? "" : newLine(depth));
    } else {
      pretty += token === "," ? `,${newLine(depth)}` : token === ":" ? ": " : token;
    }
  }
  return pretty;
}

function newLine(depth: number): string {
  return `\n${"  ".repeat(depth)}`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
