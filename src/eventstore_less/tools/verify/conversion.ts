import { eventOf, readEvent } from "../../log/lines.ts";
import type { Application } from "../../application.ts";
import { RefusedError } from "../refused_error.ts";

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

/** Another program has changed the bytes of an export. */
export class ConvertedError extends RefusedError {
  /** `utf16` if the file is in UTF-16; otherwise each line has its event, with other bytes around it. */
  readonly conversion: Conversion["kind"];

  /** `which` names the line. */
  constructor({ kind, cause }: Conversion, which: string) {
    super("converted", `${which} ${cause}: ${CONVERTED}`);
    this.conversion = kind;
  }
}

export const CONVERTED = "an editor, git or PowerShell has changed the file";
