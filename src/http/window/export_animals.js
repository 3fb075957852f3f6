// Downloads the list that is shown, with all its pages, as a CSV file that an import can read.

import { queryOf } from "./animals.js";
import { request } from "./api.js";
import { animalsWere } from "./count_words.js";
import { csvLine, withoutFormula } from "./csv.js";
import { attempt } from "./session.js";
import { setState, state } from "./state.js";
import { showToast } from "./toast.js";

const PAGE_LENGTH = 100;
/** The name comes first: if a spreadsheet separates by semicolons, its first character still begins a cell. */
const COLUMNS = ["name", "categoryId", "status", "id"];
/** Without it, spreadsheets take UTF-8 for another encoding. */
const BYTE_ORDER_MARK = "\ufeff";

export async function exportAnimals() {
  if (state.isExporting) return;
  setState({ isExporting: true });
  await attempt(async () => {
    const lines = await linesOf(state.filter);
    download([BYTE_ORDER_MARK, csvLine(COLUMNS), ...lines]);
    showToast(`${animalsWere(lines.length)} exported`);
  });
  setState({ isExporting: false });
}

async function linesOf(filter) {
  const lines = [];
  let path = `pets?${queryOf(filter, PAGE_LENGTH)}`;
  while (path !== undefined) {
    const { body, nextPage } = await request(path);
    lines.push(...body.map(lineOf));
    path = nextPage;
  }
  return lines;
}

/** The category is a number, which no spreadsheet runs. */
function lineOf({ id, name, categoryId, status = "" }) {
  return csvLine([withoutFormula(name), categoryId, status, String(id)]);
}

function download(parts) {
  const address = URL.createObjectURL(new Blob(parts, { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = "animals.csv";
  link.click();
  URL.revokeObjectURL(address);
}
