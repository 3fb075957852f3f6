/**
 * The lists of errors in src/http/docs/errors.md. They follow from the table of errors and from the operations. As a
 * program, this module writes them into the file.
 */

import { API_OPERATIONS, type ApiOperation } from "../../../src/http/api_operations.ts";
import { CODES } from "../../../src/api/described_errors.ts";
import { type ErrorCode, ERRORS } from "../../../src/api/errors.ts";

export const ERRORS_FILE = new URL("../../../src/http/docs/errors.md", import.meta.url);

/** The heading with which the lists begin. */
const BEGINNING = "## By operation\n";

/** Returns a text of the file with the lists as they should be. Throws if it has no place for them. */
export function withErrorLists(text: string): string {
  const index = text.indexOf(BEGINNING);
  if (index === -1) throw new Error(`The file of errors has no "${BEGINNING.trim()}"`);
  return text.slice(0, index) + errorLists(API_OPERATIONS);
}

function errorLists(operations: readonly ApiOperation[]): string {
  const ofAll = commonOf(operations);
  const writes = operations.filter(({ kind }) => kind === "write");
  const ofWrites = without(commonOf(writes), ofAll);
  const unused = CODES.filter((code) => operations.every(({ errors }) => !errors.includes(code)));
  const items = [
    itemOf("Requests for no operation", unused),
    itemOf("All operations", ofAll),
    itemOf("POST, PUT, PATCH and DELETE", ofWrites),
    ...operations.map((operation) => {
      const { id, method, path, errors, kind } = operation;
      const known = kind === "write" ? [...ofAll, ...ofWrites] : ofAll;
      return itemOf(`\`${id}\` (${method} ${path})`, without(errors, known));
    }),
  ];
  const sections = CODES.map((code) => {
    const { status, when, remedy } = ERRORS[code];
    // Markdown would take it for an element.
    const shown = remedy.replaceAll("<", "\\<");
    return `### ${code}\n\n${status}. ${when}. *${shown}.*\n`;
  });
  const words = "An operation can return the codes of each line that applies to it.\n";
  return `${BEGINNING}\n${words}\n${items.join("")}\n## By code\n\n${sections.join("\n")}`;
}

/** The codes that each of the operations may return. */
function commonOf(operations: readonly ApiOperation[]): ErrorCode[] {
  return CODES.filter((code) => operations.every(({ errors }) => errors.includes(code)));
}

/** In the order of the table of codes. */
function without(codes: readonly ErrorCode[], others: readonly ErrorCode[]): ErrorCode[] {
  return CODES.filter((code) => codes.includes(code) && !others.includes(code));
}

function itemOf(title: string, codes: readonly ErrorCode[]): string {
  const list = codes.map((code) => `\`${code}\``).join(", ");
  return `- **${title}**: ${list === "" ? "no others" : list}\n`;
}

if (import.meta.main) {
  const text = await Deno.readTextFile(ERRORS_FILE);
  await Deno.writeTextFile(ERRORS_FILE, withErrorLists(text));
}
