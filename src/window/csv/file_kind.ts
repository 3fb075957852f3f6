/** Tells a CSV file from a workbook of Excel, and names files that are neither, or that nobody should unpack. */

import { isZip, zipEntries, type ZipEntry } from "./zip_entries.ts";

/** Workbooks with 100,000 animals unpack to a fifth of this. */
const UNPACKED_MAX_BYTES = 100_000_000;
const ENTRIES_MAX = 10_000;

/** How files of Excel before 2007 begin, and workbooks with a password. */
const COMPOUND_FILE = [0xd0, 0xcf, 0x11, 0xe0];
/** The part of a workbook with a password. */
const ENCRYPTED_PART = "EncryptedPackage";

const SAVE_AS_CSV = "Open it in your spreadsheet, and save it as CSV";
const PROTECTED = `The file has a password. ${SAVE_AS_CSV}`;
const NOT_READABLE = `This is neither a CSV file nor a workbook of Excel (.xlsx). ${SAVE_AS_CSV}`;
const TOO_LARGE =
  "The workbook is too large when it is unpacked. Save the sheet with the animals as CSV, and choose that file";

export const DAMAGED = `The workbook is damaged. ${SAVE_AS_CSV}`;

/** Throws an error for people. */
export function fileKind(bytes: Uint8Array): "text" | "workbook" {
  if (COMPOUND_FILE.every((byte, index) => byte === bytes[index])) {
    throw new Error(hasEncryptedPart(bytes) ? PROTECTED : NOT_READABLE);
  }
  if (!isZip(bytes)) return "text";
  const fault = faultOfArchive(bytes);
  if (fault !== undefined) throw new Error(fault);
  return "workbook";
}

function faultOfArchive(bytes: Uint8Array): string | undefined {
  let entries: ZipEntry[];
  try {
    entries = zipEntries(bytes);
  } catch {
    return DAMAGED;
  }
  if (entries.some(({ isEncrypted }) => isEncrypted)) return PROTECTED;
  if (!entries.some(({ name }) => name === "xl/workbook.xml")) return NOT_READABLE;
  if (entries.some(isOfUnknownSize)) return DAMAGED;
  const size = entries.reduce((sum, entry) => sum + entry.size, 0);
  return size > UNPACKED_MAX_BYTES || entries.length > ENTRIES_MAX ? TOO_LARGE : undefined;
}

/** An entry that says nothing of its size may have any. */
function isOfUnknownSize({ name, size }: ZipEntry): boolean {
  return size === 0 && !name.endsWith("/");
}

/** The directory of a compound file has the names of its parts in UTF-16. */
function hasEncryptedPart(bytes: Uint8Array): boolean {
  return new TextDecoder("latin1").decode(bytes).includes([...ENCRYPTED_PART].join("\0"));
}
