/** Saves texts as a CSV file, as if the reader had followed a link to it. */

/** Without it, spreadsheets take UTF-8 for another encoding. */
const BYTE_ORDER_MARK = "\ufeff";

export function downloadCsv(name: string, parts: readonly string[]): void {
  const address = URL.createObjectURL(
    new Blob([BYTE_ORDER_MARK, ...parts], { type: "text/csv" }),
  );
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
