/** A text as one word of a shell. */
export function shellWord(text: string): string {
  const isPlain = /^[\w./-]+$/.test(text);
  return isPlain ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
