/** Makes workbooks of Excel as XML, so that tests say each cell. */

import { zipOf, type ZippedFile } from "./zip_of.ts";

export interface SheetSource {
  name: string;
  /** The rows of the sheet as XML. */
  rows: string;
  state?: "visible" | "hidden" | "veryHidden";
  /** Whether it is a sheet of a chart. */
  isChart?: boolean;
}

const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const PACKAGE = "http://schemas.openxmlformats.org/package/2006";

/** Style 1 is a date, and style 2 a date with a time. */
const STYLES = `<styleSheet xmlns="${MAIN}"><fonts><font/></fonts><fills><fill/></fills>` +
  '<borders><border/></borders><cellStyleXfs><xf numFmtId="0"/></cellStyleXfs>' +
  '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/></cellXfs></styleSheet>';

/** The files of a workbook. `name` of a sheet is as in XML. */
export function filesOfWorkbook(
  sheets: readonly SheetSource[],
  sharedStrings: readonly string[] = [],
): ZippedFile[] {
  const relations = sheets.map(({ isChart }, index) => ({
    type: isChart ? "chartsheet" : "worksheet",
    target: `worksheets/sheet${index + 1}.xml`,
  }));
  relations.push({ type: "styles", target: "styles.xml" });
  relations.push({ type: "sharedStrings", target: "sharedStrings.xml" });
  const listed = sheets.map(({ name, state }, index) =>
    `<sheet name="${name}" sheetId="${index + 1}"${state ? ` state="${state}"` : ""} r:id="rId${
      index + 1
    }"/>`
  );
  return [
    {
      name: "[Content_Types].xml",
      content: `<Types xmlns="${PACKAGE}/content-types"><Default Extension="xml"/></Types>`,
    },
    {
      name: "_rels/.rels",
      content: relationsXml([{ type: "officeDocument", target: "xl/workbook.xml" }]),
    },
    {
      name: "xl/workbook.xml",
      content: `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets>${
        listed.join("")
      }</sheets></workbook>`,
    },
    { name: "xl/_rels/workbook.xml.rels", content: relationsXml(relations) },
    { name: "xl/styles.xml", content: STYLES },
    {
      name: "xl/sharedStrings.xml",
      content: `<sst xmlns="${MAIN}">${
        sharedStrings.map((text) => `<si><t>${text}</t></si>`).join("")
      }</sst>`,
    },
    ...sheets.map(({ rows }, index) => ({
      name: `xl/worksheets/sheet${index + 1}.xml`,
      content: `<worksheet xmlns="${MAIN}"><sheetData>${rows}</sheetData></worksheet>`,
    })),
  ];
}

export function workbookOf(
  sheets: readonly SheetSource[],
  sharedStrings?: readonly string[],
): Uint8Array<ArrayBuffer> {
  return zipOf(filesOfWorkbook(sheets, sharedStrings));
}

/** A row of texts and numbers. */
export function rowOf(line: number, cells: readonly (string | number)[]): string {
  const xml = cells.map((cell) =>
    typeof cell === "number"
      ? `<c><v>${cell}</v></c>`
      : `<c t="inlineStr"><is><t>${cell}</t></is></c>`
  );
  return `<row r="${line}">${xml.join("")}</row>`;
}

function relationsXml(relations: readonly { type: string; target: string }[]): string {
  const all = relations.map(({ type, target }, index) =>
    `<Relationship Id="rId${index + 1}" Type="${OFFICE}/${type}" Target="${target}"/>`
  );
  return `<Relationships xmlns="${PACKAGE}/relationships">${all.join("")}</Relationships>`;
}
