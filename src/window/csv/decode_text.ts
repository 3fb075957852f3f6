/** Finds out the encoding of a text file. UTF-8 proves itself; any other encoding is an assumption, which people check. */

/** Encodings that a reader can choose: the names are those of `TextDecoder`. */
export const ENCODINGS: Readonly<Record<string, string>> = {
  "utf-8": "UTF-8",
  "windows-1252": "Western European (Windows-1252)",
  "windows-1250": "Central European (Windows-1250)",
  "iso-8859-2": "Central European (ISO 8859-2)",
  "windows-1251": "Cyrillic (Windows-1251)",
  "koi8-r": "Cyrillic (KOI8-R)",
  "windows-1253": "Greek (Windows-1253)",
  "windows-1254": "Turkish (Windows-1254)",
  "windows-1257": "Baltic (Windows-1257)",
  "windows-1255": "Hebrew (Windows-1255)",
  "windows-1256": "Arabic (Windows-1256)",
  "windows-1258": "Vietnamese (Windows-1258)",
  "windows-874": "Thai (Windows-874)",
  "shift_jis": "Japanese (Shift JIS)",
  "gb18030": "Chinese, simplified (GB 18030)",
  "big5": "Chinese, traditional (Big5)",
  "euc-kr": "Korean (EUC-KR)",
  "macintosh": "Western European (Mac OS Roman)",
  "utf-16le": "UTF-16",
  "utf-16be": "UTF-16, big endian",
};

/** Spreadsheets write it in most of the countries that do not write UTF-8. */
const ASSUMED = "windows-1252";

const REPLACEMENT = "\ufffd";
/** No text has it: the file is in another encoding, such as UTF-16 without a mark. */
const NUL = "\0";
const LINE_BREAK = /\r\n|\r|\n/;

export interface DecodedText {
  text: string;
  /** A key of {@linkcode ENCODINGS}. */
  encoding: string;
  /** Whether another encoding is as possible. */
  isAssumed: boolean;
  /** The numbers of lines with bytes that the encoding does not have, from 1. */
  brokenLines: ReadonlySet<number>;
}

/**
 * Decodes a file. Without a chosen `encoding`, it is that of the byte order mark, or UTF-8 if at least as many characters
 * outside ASCII are right UTF-8 as are wrong.
 */
export function decodeText(bytes: Uint8Array, encoding?: string): DecodedText {
  if (encoding !== undefined) return decodeAs(bytes, encoding, false);
  const marked = encodingOfMark(bytes);
  if (marked !== undefined) return decodeAs(bytes, marked, false);
  const decoded = decodeAs(bytes, "utf-8", false);
  const isUtf8 = decoded.brokenLines.size === 0 || isMostlyRight(decoded.text);
  if (!isUtf8) return decodeAs(bytes, ASSUMED, true);
  return { ...decoded, isAssumed: decoded.text.includes(NUL) };
}

function encodingOfMark([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  return undefined;
}

function decodeAs(bytes: Uint8Array, encoding: string, isAssumed: boolean): DecodedText {
  const decoded = { encoding, isAssumed };
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return { ...decoded, text, brokenLines: linesWith(/\0/, text) };
  } catch {
    const text = new TextDecoder(encoding).decode(bytes);
    return { ...decoded, text, brokenLines: linesWith(/[\0\ufffd]/, text) };
  }
}

function linesWith(wrong: RegExp, text: string): Set<number> {
  const lines = wrong.test(text) ? text.split(LINE_BREAK) : [];
  return new Set(lines.flatMap((line, index) => wrong.test(line) ? [index + 1] : []));
}

/** A text in another encoding is hardly ever valid UTF-8 by chance. */
function isMostlyRight(text: string): boolean {
  const wrong = text.split(REPLACEMENT).length - 1;
  const outsideAscii = text.match(/[^\0-\x7f]/gu)?.length ?? 0;
  return outsideAscii - wrong >= wrong;
}
