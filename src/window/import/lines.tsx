/** Lines of a file with their faults. The list is not longer than a person can read. */

import type { ComponentChildren, JSX } from "preact";
import type { CsvRow } from "../csv/parse_csv.ts";

const LINES_SHOWN = 100;
const CHARACTERS_SHOWN = 1_000;

interface LinesProps {
  title: string;
  lines: readonly { row: CsvRow; fault?: string }[];
  /** The buttons for these lines. */
  children?: ComponentChildren;
}

export function Lines({ title, lines, children }: LinesProps): JSX.Element | null {
  if (lines.length === 0) return null;
  const more = lines.length - LINES_SHOWN;
  return (
    <div role="group" aria-label={title}>
      <h3>{title}</h3>
      <ol class="import-lines" tabIndex={0} aria-label={`Lines: ${title}`}>
        {lines.slice(0, LINES_SHOWN).map(({ row, fault }) => (
          <li key={row.line}>
            <span class="number">Line {linesOf(row)}</span>
            {fault && <span>{fault}</span>}
            <code>{shortened(row.text)}</code>
          </li>
        ))}
      </ol>
      {more > 0 && <p class="soft small">and {more.toLocaleString("en")} more</p>}
      {children}
    </div>
  );
}

/** The numbers of the lines of a row. */
export function linesOf({ line, lastLine }: CsvRow): string {
  return line === lastLine ? String(line) : `${line}–${lastLine}`;
}

function shortened(text: string): string {
  return text.length > CHARACTERS_SHOWN ? `${text.slice(0, CHARACTERS_SHOWN)} …` : text;
}
