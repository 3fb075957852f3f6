/** The first rows of a file as they are, so that people see which columns it has. */

import type { JSX } from "preact";
import type { CsvRow } from "../csv/parse_csv.ts";
import { grouped } from "../parts/count_words.ts";
import { fieldOfColumn } from "./columns.ts";
import type { Draft } from "./draft.ts";
import { SampleTable } from "./sample_table.tsx";
import type { Table } from "./table.ts";

const ROWS_SHOWN = 3;
const COLUMNS_SHOWN = 50;
const CHARACTERS_SHOWN = 100;

export function FirstRows({ draft }: { draft: Draft }): JSX.Element | null {
  const { table, columns } = draft;
  const { titles } = table;
  const sound = firstRowsOf(table);
  if (sound.length === 0) return null;
  const others = titles.length - COLUMNS_SHOWN;
  const shown = titles.slice(0, COLUMNS_SHOWN);
  return (
    <SampleTable
      title="First lines"
      words={others > 0
        ? `The first ${COLUMNS_SHOWN} of ${grouped(titles.length)} columns`
        : undefined}
    >
      <thead>
        <tr>
          {shown.map((title, index) => (
            <th key={index}>
              <bdi translate={false}>{title || `Column ${index + 1}`}</bdi>
              <div class="import-use">{fieldOfColumn(columns, index) ?? "not imported"}</div>
            </th>
          ))}
        </tr>
      </thead>
      <tbody class="import-raw" translate={false}>
        {sound.map(({ line, cells }) => (
          <tr key={line}>
            {shown.map((_, index) => <td key={index}>{shortened(cells[index] ?? "")}</td>)}
          </tr>
        ))}
      </tbody>
    </SampleTable>
  );
}

/** The rows that the page shows as they are. */
export function firstRowsOf({ rows }: Table): CsvRow[] {
  return rows.filter(({ fault }) => fault === undefined).slice(0, ROWS_SHOWN);
}

function shortened(text: string): string {
  return text.length > CHARACTERS_SHOWN ? `${text.slice(0, CHARACTERS_SHOWN)} …` : text;
}
