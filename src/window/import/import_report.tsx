/** The progress of an import, and its outcome. */

import type { JSX } from "preact";
import { animals, animalsAre, animalsWere, grouped } from "../parts/count_words.ts";
import type { Draft } from "./draft.ts";
import { countOf, type ImportState } from "./import_progress.ts";
import { LeftOutLines } from "./left_out_lines.tsx";
import type { Entry, Plan } from "./plan.ts";
import { PresentLines } from "./present_lines.tsx";
import { countAnimals } from "./row_lines.ts";

const CONTINUE = "To continue, import the same file again within a day";

interface ReportProps {
  draft: Draft;
  plan: Plan;
  state: ImportState;
  /** Adds the animals again that were here already. */
  onAddAgain: (present: readonly Entry[]) => void;
}

export function ImportReport({ draft, plan, state, onAddAgain }: ReportProps): JSX.Element {
  const { length } = plan.entries;
  const { failed, end } = state;
  const present = [...plan.present, ...state.present];
  const done = countOf(state);
  const missing = end === undefined ? failed : [...plan.leftOut, ...failed];
  const inOrder = missing.toSorted((a, b) => a.row.line - b.row.line);
  const [first, ...others] = end === undefined
    ? [`${grouped(done)} of ${animals(length)}`]
    : sentencesOf(state, present.length, length);
  return (
    <>
      {end === undefined && <progress aria-label="Import" max={length} value={done}></progress>}
      <p class="import-summary" role="status">
        <b>{first}</b> {others.join(" ")}
      </p>
      {end?.kind === "failed" && <p class="fault" role="alert">{end.fault}</p>}
      {end !== undefined && (
        <PresentLines
          present={present}
          onAddAgain={() => onAddAgain(present)}
        />
      )}
      <LeftOutLines
        draft={draft}
        title={`${animalsWere(countAnimals(missing))} not imported`}
        leftOut={inOrder}
      />
    </>
  );
}

function sentencesOf(state: ImportState, present: number, length: number): string[] {
  const { added, changed, end } = state;
  const rest = length - countOf(state);
  const sentences = [
    (added > 0 || changed === 0) && `${animalsWere(added)} added.`,
    changed > 0 && `${animalsWere(changed)} changed.`,
    present > 0 && `${animalsWere(present)} here already.`,
    end?.kind !== "done" &&
    `The import was stopped: ${animalsAre(rest)} not imported. ${CONTINUE}.`,
  ];
  return sentences.filter((it) => it !== false);
}
