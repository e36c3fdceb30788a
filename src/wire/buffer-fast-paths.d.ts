/** Node's UTF-8 methods of Buffer, which @types/node does not declare. */
interface Buffer {
  utf8Write(text: string, offset: number): number;
  utf8Slice(start: number, end: number): string;
}
