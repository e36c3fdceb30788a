/**
 * Node's own UTF-8 entry points on Buffer: public since the beginning, left out of the type
 * package.
 */
interface Buffer {
  utf8Write(text: string, offset: number): number;
  utf8Slice(start: number, end: number): string;
}
