/** Prints rows in columns, with numbers aligned right. */
export function printTable(title: string, header: string[], rows: (string | number)[][]): void {
  const cells = [header, ...rows].map((row) => row.map((cell) => format(cell)));
  const widths = header.map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  console.log(`\n${title}\n`);
  for (const [index, row] of cells.entries()) {
    const line = row.map((cell, column) =>
      typeof (rows[0]?.[column]) === "number"
        ? cell.padStart(widths[column])
        : cell.padEnd(widths[column])
    );
    console.log(`  ${line.join("  ").trimEnd()}`);
    if (index === 0) console.log(`  ${widths.map((width) => "-".repeat(width)).join("  ")}`);
  }
}

function format(cell: string | number): string {
  if (typeof cell === "string") return cell;
  if (Number.isNaN(cell)) return "-";
  if (cell >= 100) return Math.round(cell).toLocaleString("en");
  return cell.toFixed(cell >= 10 ? 1 : 2);
}

export function median(numbers: number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
}

export function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
