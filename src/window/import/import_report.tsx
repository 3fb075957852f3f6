/** The progress of an import, and its outcome. */

import type { JSX } from "preact";
import { animals, animalsWere, lines, linesAre, linesWere } from "../count_words.ts";
import { downloadCsv } from "../download.ts";
import type { Draft } from "./draft.ts";
import { countOf, type ImportState } from "./import_progress.ts";
import { leftOutFile } from "./left_out_file.ts";
import { Lines } from "./lines.tsx";
import type { LeftOut, Plan } from "./plan.ts";

const HERE_ALREADY = "here already, from an earlier import in the last 24 hours";
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
  const missing = [...plan.leftOut, ...failed].sort((a, b) => a.row.line - b.row.line);
  return (
    <>
      <progress aria-label="Import" max={length} value={done}></progress>
      <p role="status">
        {end === undefined
          ? `${done.toLocaleString("en")} of ${length.toLocaleString("en")}`
          : sentencesOf(state, length)}
      </p>
      {end?.kind === "failed" && <p class="fault" role="alert">{end.fault}</p>}
      <Lines title={`${lines(failed.length)} failed`} lines={failed} />
      {end !== undefined && (
        <>
          <Lines title={`${linesWere(plan.leftOut.length)} left out`} lines={plan.leftOut} />
          {missing.length > 0 && <DownloadLeftOut draft={draft} leftOut={missing} />}
          <Lines title={`${linesWere(present.length)} here already`} lines={present}>
            <p>
              <button type="button" onClick={onAddAgain}>
                Add {animals(present.length)} again
              </button>
            </p>
          </Lines>
        </>
      )}
    </>
  );
}

function sentencesOf(state: ImportState, length: number): string {
  const { added, changed, present, end } = state;
  const rest = length - countOf(state);
  const sentences = [
    (added > 0 || changed === 0) && `${animalsWere(added)} added.`,
    changed > 0 && `${animalsWere(changed)} changed.`,
    present.length > 0 && `${animalsWere(present.length)} ${HERE_ALREADY}.`,
    end?.kind !== "done" && `The import was stopped: ${linesAre(rest)} not imported. ${CONTINUE}.`,
  ];
  return sentences.filter((it) => it !== false).join(" ");
}

interface DownloadProps {
  draft: Draft;
  leftOut: readonly LeftOut[];
}

export function DownloadLeftOut({ draft, leftOut }: DownloadProps): JSX.Element {
  const save = () => downloadCsv("lines left out.csv", leftOutFile(draft.table.titles, leftOut));
  const isOne = leftOut.length === 1;
  return (
    <p>
      <button type="button" onClick={save}>
        {isOne ? "Download this line with its reason" : "Download these lines with their reasons"}
      </button>
    </p>
  );
}
