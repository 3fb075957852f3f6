/** The lines that an import leaves out, by their causes, with what people can do about them. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { animals, grouped } from "../parts/count_words.ts";
import { downloadCsv } from "../parts/download.ts";
import { causesOf, newCategoriesOf } from "./causes.ts";
import type { Draft } from "./draft.ts";
import { leftOutFile } from "./left_out_file.ts";
import { LineGroup } from "./line_group.tsx";
import type { LeftOut } from "./plan.ts";
import { countAnimals } from "./row_lines.ts";

const CAUSES_SHOWN = 20;

interface LeftOutLinesProps {
  draft: Draft;
  title: string;
  leftOut: readonly LeftOut[];
  /** Adds categories that lines need. */
  onAddCategories?: (names: readonly string[]) => void;
}

export function LeftOutLines(props: LeftOutLinesProps): JSX.Element | null {
  const { draft, title, leftOut, onAddCategories } = props;
  const causes = useMemo(() => causesOf(leftOut), [leftOut]);
  const names = useMemo(() => newCategoriesOf(leftOut), [leftOut]);
  if (leftOut.length === 0) return null;
  const isOfferedAlone = leftOut.some(({ needsOnlyCategory }) => needsOnlyCategory);
  const isWorthButton = names.length > 1 || names.length === 1 && !isOfferedAlone;
  const more = countAnimals(causes.slice(CAUSES_SHOWN).flat());
  return (
    <div role="group" aria-label={title}>
      <div class="import-head">
        <h3>{title}</h3>
        {onAddCategories !== undefined && isWorthButton && (
          <button
            type="button"
            onClick={() => onAddCategories(names)}
          >
            {addWords(names.length)}
          </button>
        )}
      </div>
      {causes.slice(0, CAUSES_SHOWN).map((some) => (
        <Cause key={some[0].fault} leftOut={some} onAddCategories={onAddCategories} />
      ))}
      {more > 0 && <p class="soft small">and {animals(more)} more, for other reasons</p>}
      <p>
        <button type="button" class="link" onClick={() => save(draft, leftOut)}>
          Download {countAnimals(leftOut) === 1
            ? "this line with its reason"
            : "these lines with their reasons"}
        </button>
      </p>
    </div>
  );
}

function addWords(count: number): string {
  return count === 1 ? "Add the missing category" : `Add the ${grouped(count)} missing categories`;
}

type CauseProps = Pick<LeftOutLinesProps, "leftOut" | "onAddCategories">;

function Cause({ leftOut, onAddCategories }: CauseProps): JSX.Element {
  const [{ fault, newCategory, needsOnlyCategory }] = leftOut;
  return (
    <LineGroup words={fault} group={leftOut}>
      {onAddCategories !== undefined && newCategory !== undefined && needsOnlyCategory && (
        <button
          type="button"
          onClick={() => onAddCategories([newCategory])}
        >
          Add “<bdi translate={false}>{newCategory}</bdi>”
        </button>
      )}
    </LineGroup>
  );
}

function save(draft: Draft, leftOut: readonly LeftOut[]): void {
  downloadCsv("lines left out.csv", leftOutFile(draft.table.titles, leftOut));
}
