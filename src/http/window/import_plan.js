// What the import of a CSV file would do: the animals of its lines, and what is wrong with the others.

import { parseCsv, withFormula } from "./csv.js";
import { categoryOf, faultsOf, FIELD_LABELS } from "./pet_fields.js";
import { STATUS_LABELS } from "./statuses.js";

const LIMIT_BYTES = 20_000_000;

/** Names of columns, in small letters and without other characters. An import ignores `id`, which the service assigns. */
const FIELDS_BY_COLUMN = {
  name: "name",
  category: "categoryId",
  categoryid: "categoryId",
  status: "status",
  id: "id",
};
const NEEDED = ["name", "categoryId"];
const ADVICE = `it must name "Name" and "Category", and may name "Status"`;

/**
 * Resolves to the `hash` of the file, its `columns`, each with the field that it fills, its `entries`, each a line with
 * an animal, and its `faults`, each with its line and its text. If the file cannot be imported, `fault` says why.
 */
export async function planImport(file) {
  if (file.size > LIMIT_BYTES) return { fault: "The file has more than 20 megabytes" };
  const bytes = await file.arrayBuffer();
  const [header, ...rows] = parseCsv(decode(bytes));
  if (header === undefined) return { fault: "The file is empty" };
  const columns = header.cells.map((title) => ({ title, field: fieldOf(title) }));
  const fault = faultOfHeader(header, columns);
  if (fault !== undefined) return { fault };
  const read = rows.map((row) => readRow(row, columns));
  return {
    hash: await hashOf(bytes),
    columns,
    entries: read.filter((it) => it.fault === undefined),
    faults: read.filter((it) => it.fault !== undefined),
  };
}

/** Spreadsheets write UTF-8, or the encoding of their system. */
function decode(bytes) {
  const [first, second] = new Uint8Array(bytes);
  const isUtf16 = first === 0xff && second === 0xfe;
  if (isUtf16) return new TextDecoder("utf-16le").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

function fieldOf(title) {
  return FIELDS_BY_COLUMN[title.toLowerCase().replaceAll(/[^a-z]/g, "")];
}

function faultOfHeader({ fault }, columns) {
  if (fault !== undefined) return `Line 1 ${fault}`;
  const fields = columns.map(({ field }) => field).filter((field) => field in FIELD_LABELS);
  const repeated = fields.find((field, index) => fields.indexOf(field) !== index);
  if (repeated !== undefined) return `The first line names "${FIELD_LABELS[repeated]}" twice`;
  const missing = NEEDED.find((field) => !fields.includes(field));
  if (missing === undefined) return undefined;
  return `The first line names no column "${FIELD_LABELS[missing]}": ${ADVICE}`;
}

/** A row as an entry, or as a fault. */
function readRow({ line, cells, fault }, columns) {
  if (fault !== undefined) return { line, fault: `The line ${fault}` };
  const hasMore = cells.slice(columns.length).some((cell) => cell !== "");
  if (hasMore) return { line, fault: "The line has more cells than the first line" };
  const texts = { name: "", categoryId: "", status: "" };
  for (const [index, { field }] of columns.entries()) {
    if (field !== undefined) texts[field] = cells[index] ?? "";
  }
  const fields = {
    name: withFormula(texts.name),
    categoryId: withFormula(texts.categoryId),
    status: statusOf(texts.status),
  };
  const [firstFault] = Object.values(faultsOf(fields));
  if (firstFault !== undefined) return { line, fault: firstFault };
  return { line, pet: petOf(fields) };
}

/** A status may be written as the page shows it. */
function statusOf(text) {
  const word = text.trim().toLowerCase();
  const found = Object.entries(STATUS_LABELS).find(([status, label]) =>
    word === status || word === label.toLowerCase()
  );
  return found === undefined ? word : found[0];
}

function petOf({ name, categoryId, status }) {
  return { name, categoryId: categoryOf(categoryId), status: status || undefined };
}

async function hashOf(bytes) {
  const hash = await crypto.subtle.digest("SHA-256", bytes);
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
