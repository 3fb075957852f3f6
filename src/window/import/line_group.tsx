/** A group of lines of a file: its words, and, unfolded, the first lines. */

import type { ComponentChildren, JSX } from "preact";
import { lines } from "../parts/count_words.ts";
import type { CsvRow } from "../csv/parse_csv.ts";
import { countLines, linesOf } from "./row_lines.ts";

const ROWS_SHOWN = 10;
const CHARACTERS_SHOWN = 300;

interface LineGroupProps {
  /** The reason that the lines share. */
  words: string;
  group: readonly { row: CsvRow }[];
  /** The button for these lines. */
  children?: ComponentChildren;
}

export function LineGroup({ words, group, children }: LineGroupProps): JSX.Element {
  const more = countLines(group.slice(ROWS_SHOWN));
  const place = group.length === 1 ? placeOf(group[0].row) : lines(countLines(group));
  return (
    <div class="import-group">
      <details>
        <summary>
          <span>
            <b>{place}:</b> <bdi translate={false}>{words}</bdi>
          </span>
        </summary>
        <ol>
          {group.slice(0, ROWS_SHOWN).map(({ row }) => (
            <li key={row.line}>
              <span class="soft">{placeOf(row)}</span>
              <code translate={false}>{shortened(row.text)}</code>
            </li>
          ))}
        </ol>
        {more > 0 && <p class="soft small">and {more.toLocaleString("en")} more</p>}
      </details>
      {children}
    </div>
  );
}

function placeOf(row: CsvRow): string {
  return `${row.line === row.lastLine ? "Line" : "Lines"} ${linesOf(row)}`;
}

function shortened(text: string): string {
  return text.length > CHARACTERS_SHOWN ? `${text.slice(0, CHARACTERS_SHOWN)} …` : text;
}
