/** Records that hold several lines: the log, and the texts of pets. Shares no code with the service. */

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The lines of a value, in which a line feed follows each line; `undefined` if it is anything else. */
export function linesOf(value: unknown): string[] | undefined {
  const lines = textOf(value)?.split("\n");
  const isEnded = lines?.pop() === "";
  return isEnded && lines!.length > 0 && !lines!.includes("") ? lines : undefined;
}

function textOf(value: unknown): string | undefined {
  try {
    return value instanceof Uint8Array ? decoder.decode(value) : undefined;
  } catch {
    return undefined;
  }
}

/** A record of lines. The number is the last part of its key. */
export interface LinesRecord {
  number: number;
  value: unknown;
}

/**
 * Compares the records under a prefix with the lines that they must hold. The lines have ascending numbers. The
 * number of a record is that of its last line. Every line must be stored exactly once, in any grouping.
 */
export function* linesFaults(
  records: readonly LinesRecord[],
  expected: ReadonlyMap<number, string>,
): Generator<string> {
  const found: string[] = [];
  for (const { number, value } of records.toSorted((one, other) => one.number - other.number)) {
    const lines = linesOf(value) ?? [];
    if (lines.length === 0) yield `record ${number} does not hold lines`;
    else if (lines.at(-1) !== expected.get(number)) {
      yield `record ${number} ends with ${shortened(lines.at(-1)!)}`;
    }
    found.push(...lines);
  }
  const due = [...expected];
  for (let index = 0; index < Math.max(found.length, due.length); index++) {
    const [number, line] = due[index] ?? [];
    if (found[index] === line) continue;
    yield `${shortened(found[index] ?? "the end")} is stored instead of line ${number}`;
    return;
  }
}

/** A text short enough for a message. */
export function shortened(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}
