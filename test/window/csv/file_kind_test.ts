import { assertEquals, assertThrows } from "@std/assert";
import { fileKind } from "../../../src/window/csv/file_kind.ts";
import { filesOfWorkbook, rowOf, workbookOf } from "../../support/workbook_of.ts";
import { zipOf } from "../../support/zip_of.ts";

const FILES = filesOfWorkbook([{ name: "Pets", rows: rowOf(1, ["Name"]) }]);
const SAVE = "Open it in your spreadsheet, and save it as CSV";
const NEITHER = `This is neither a CSV file nor a workbook of Excel (.xlsx). ${SAVE}`;

/** A file as Excel wrote it before 2007, with the name of a part in UTF-16. */
function compoundFile(part: string): Uint8Array {
  const name = Array.from(part).flatMap((letter) => [letter.charCodeAt(0), 0]);
  return new Uint8Array([0xd0, 0xcf, 0x11, 0xe0, ...Array(600).fill(0), ...name, 0, 0]);
}

Deno.test("fileKind() tells workbooks from texts", () => {
  assertEquals(fileKind(workbookOf([{ name: "Pets", rows: "" }])), "workbook");
  for (const text of ["", "PK", "name,category\n"]) {
    assertEquals(fileKind(new TextEncoder().encode(text)), "text");
  }
  // An archive may end with a comment.
  const bytes = zipOf(FILES);
  const end = bytes.length - 2;
  const commented = new Uint8Array([...bytes.subarray(0, end), 3, 0, 1, 2, 3]);
  assertEquals(fileKind(commented), "workbook");
});

Deno.test("fileKind() says of other files how to save them as CSV", () => {
  const cases: [bytes: Uint8Array, fault: string][] = [
    [compoundFile("Workbook"), NEITHER],
    [compoundFile("EncryptedPackage"), `The file has a password. ${SAVE}`],
    [zipOf([{ name: "mimetype", content: "x" }, { name: "content.xml", content: "x" }]), NEITHER],
    [zipOf([{ name: "xl/workbook.bin", content: "x" }]), NEITHER],
    [
      zipOf(FILES.map((file) => ({ ...file, isEncrypted: true }))),
      `The file has a password. ${SAVE}`,
    ],
    [new TextEncoder().encode("PK\x03\x04" + "x".repeat(100)), `The workbook is damaged. ${SAVE}`],
    [zipOf(FILES).slice(0, -30), `The workbook is damaged. ${SAVE}`],
    [
      zipOf([...FILES, { name: "xl/a.xml", content: "x", saidSize: 0 }]),
      `The workbook is damaged. ${SAVE}`,
    ],
  ];
  for (const [bytes, fault] of cases) assertThrows(() => fileKind(bytes), Error, fault);
});

Deno.test("fileKind() refuses archives that unpack to more than 100 megabytes, without unpacking them", () => {
  const bombs = [
    [...FILES, { name: "xl/media/image.png", content: "x", saidSize: 4_000_000_000 }],
    [
      ...FILES,
      ...Array.from({ length: 11 }, (_, index) => ({
        name: `xl/worksheets/sheet${index + 2}.xml`,
        content: "x",
        saidSize: 10_000_000,
      })),
    ],
    [
      ...FILES,
      ...Array.from({ length: 10_000 }, (_, index) => ({ name: `${index}`, content: "x" })),
    ],
  ];
  for (const files of bombs) {
    assertThrows(
      () => fileKind(zipOf(files)),
      Error,
      "The workbook is too large when it is unpacked. Save the sheet with the animals as CSV, and choose that file",
    );
  }
});
