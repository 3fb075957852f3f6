/** A small file that an import can read, for people who have none yet. */

import { csvLine } from "../../encoding/csv_line.ts";

export const EXAMPLE: readonly string[] = [
  csvLine(["Name", "Category", "Status"]),
  csvLine(["Bella", "Dogs", "Available"]),
  csvLine(["Mia", "Cats", "Sold"]),
  csvLine(["Hoppel", "Rabbits", ""]),
];
