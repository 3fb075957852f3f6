/** The progress of an import, and its outcome. */

import type { JSX } from "preact";
import { animals, animalsAre, animalsWere, linesWere } from "../parts/count_words.ts";
import type { Draft } from "./draft.ts";
import { countOf, type ImportState } from "./import_progress.ts";
import { LeftOutLines } from "./left_out_lines.tsx";
import { LineGroup } from "./line_group.tsx";
import type { Plan } from "./plan.ts";
import { countLines } from "./row_lines.ts";

const CONTINUE = "To continue, import the same file again within a day";

interface ReportProps {
  draft: Draft;
  plan: Plan;
  state: ImportState;
  /** Adds the animals again that were here already. */
  onAddAgain: () => void;
}

export function ImportReport({ draft, plan, state, onAddAgain }: ReportProps): JSX.Element {
  const { length } = plan.entries;
  const { failed, present, end } = state;
  const done = countOf(state);
  const missing = end === undefined ? failed : [...plan.leftOut, ...failed];
  const inOrder = missing.toSorted((a, b) => a.row.line - b.row.line);
  const [first, ...others] = end === undefined
    ? [`${done.toLocaleString("en")} of ${animals(length)}`]
    : sentencesOf(state, length);
  return (
    <>
      {end === undefined && <progress aria-label="Import" max={length} value={done}></progress>}
      <p class="import-summary" role="status">
        <b>{first}</b> {others.join(" ")}
      </p>
      {end?.kind === "failed" && <p class="fault" role="alert">{end.fault}</p>}
      {end !== undefined && present.length > 0 && (
        <LineGroup words="Added by an earlier import in the last 24 hours" group={present}>
          <button type="button" onClick={onAddAgain}>Add {animals(present.length)} again</button>
        </LineGroup>
      )}
      <LeftOutLines
        draft={draft}
        title={`${linesWere(countLines(missing))} not imported`}
        leftOut={inOrder}
      />
    </>
  );
}

function sentencesOf(state: ImportState, length: number): string[] {
  const { added, changed, present, end } = state;
  const rest = length - countOf(state);
  const sentences = [
    (added > 0 || changed === 0) && `${animalsWere(added)} added.`,
    changed > 0 && `${animalsWere(changed)} changed.`,
    present.length > 0 && `${animalsWere(present.length)} here already.`,
    end?.kind !== "done" &&
    `The import was stopped: ${animalsAre(rest)} not imported. ${CONTINUE}.`,
  ];
  return sentences.filter((it) => it !== false);
}
