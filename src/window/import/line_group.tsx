/** A group of rows of a file: its words, and, unfolded, the first rows. */

import type { ComponentChildren, JSX } from "preact";
import { animals, grouped } from "../parts/count_words.ts";
import { countAnimals, isRange, linesOf, type Placed } from "./row_lines.ts";

const ROWS_SHOWN = 10;
const CHARACTERS_SHOWN = 300;

interface LineGroupProps {
  /** The reason that the rows share. */
  words: string;
  group: readonly Placed[];
  /** The button for these rows. */
  children?: ComponentChildren;
}

export function LineGroup({ words, group, children }: LineGroupProps): JSX.Element {
  const more = countAnimals(group.slice(ROWS_SHOWN));
  const place = group.length === 1 ? placeOf(group[0]) : animals(countAnimals(group));
  return (
    <div class="import-group">
      <details>
        <summary>
          <span>
            <b>{place}:</b> <bdi translate={false}>{words}</bdi>
          </span>
        </summary>
        <ol>
          {group.slice(0, ROWS_SHOWN).map((it) => (
            <li key={it.row.line}>
              <span class="soft">{placeOf(it)}</span>
              <code translate={false}>{shortened(it.row.text)}</code>
            </li>
          ))}
        </ol>
        {more > 0 && <p class="soft small">and {grouped(more)} more</p>}
      </details>
      {children}
    </div>
  );
}

function placeOf(placed: Placed): string {
  return `${isRange(placed) ? "Lines" : "Line"} ${linesOf(placed)}`;
}

function shortened(text: string): string {
  return text.length > CHARACTERS_SHOWN ? `${text.slice(0, CHARACTERS_SHOWN)} …` : text;
}
