import { eventOf, readEvent } from "../../log/lines.ts";
import type { Application } from "../../application.ts";

/** How an editor, git or PowerShell has changed an export. The cause is worded to follow "Line 1 ". */
export interface Conversion {
  kind: "converted" | "utf16";
  cause: string;
}

/** The first bytes of a text in UTF-16: the byte order marks, or the `{` of the first line. */
const BEGINNINGS_OF_UTF16 = [[0xff, 0xfe], [0xfe, 0xff], [0x7b, 0x00], [0x00, 0x7b]];
const BOM_OF_UTF8 = [0xef, 0xbb, 0xbf];
const CARRIAGE_RETURN = 0x0d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** Recognizes a line that is not an event because another program has changed the bytes around it. */
export function conversionOf(application: Application, line: Uint8Array): Conversion | undefined {
  if (eventOf(application, line) !== undefined) return undefined;
  if (BEGINNINGS_OF_UTF16.some((bytes) => beginsWith(line, bytes))) {
    return { kind: "utf16", cause: "is in UTF-16" };
  }
  const isEmpty = line.length === 0 || line.length === 1 && line[0] === CARRIAGE_RETURN;
  if (isEmpty) return { kind: "converted", cause: "is empty" };
  const object = line.subarray(line.indexOf(OPENING_BRACE), line.lastIndexOf(CLOSING_BRACE) + 1);
  // A line of a newer version has a position, too.
  const isAroundEvent = object.length < line.length && "position" in readEvent(application, object);
  if (!isAroundEvent) return undefined;
  return { kind: "converted", cause: causeOf(line) };
}

function causeOf(line: Uint8Array): string {
  if (beginsWith(line, BOM_OF_UTF8)) return "begins with a byte order mark (BOM)";
  if (line.at(-1) === CARRIAGE_RETURN) return "ends with a carriage return (CRLF)";
  return "has other characters around its event";
}

function beginsWith(line: Uint8Array, bytes: readonly number[]): boolean {
  return bytes.every((byte, index) => line[index] === byte);
}

/** Says what has happened to a file, on one line, for a command that refuses it. */
export function describeConversion({ kind, cause }: Conversion, which: string): string {
  const command = REPAIR_COMMANDS[kind].replace("BACKUP", "FILE");
  return `${which} ${cause}: ${CONVERTED}. Keep the file, and repair a copy: ${command}`;
}

export const CONVERTED = "an editor, git or PowerShell has changed the file";

/** A line of the log is one JSON object, so it has no bytes before the first brace and after the last one. */
const KEEP_OBJECTS = "LC_ALL=C grep -o '{.*}'";

export const REPAIR_COMMANDS = {
  converted: `${KEEP_OBJECTS} BACKUP > repaired.jsonl`,
  utf16: `iconv -f UTF-16 -t UTF-8 BACKUP | ${KEEP_OBJECTS} > repaired.jsonl`,
};
