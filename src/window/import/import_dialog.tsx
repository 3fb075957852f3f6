/** The dialog that imports a file: people choose it, see its effect, import it, and see the outcome. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Pet } from "../../../events/pet.ts";
import { newIdempotencyKey } from "../data/api.ts";
import { addUnusedCategory } from "../data/write_category.ts";
import { namedCategories } from "../data/categories.ts";
import { animals } from "../parts/count_words.ts";
import { Dialog, openDialog } from "../parts/dialog.tsx";
import { downloadCsv } from "../parts/download.ts";
import { restoreFocus } from "../parts/focus.ts";
import { attempt } from "../parts/messages.tsx";
import { clearSelection } from "../data/selection.ts";
import { useUnsaved } from "../data/unsaved.ts";
import { type Draft, planOf } from "./draft.ts";
import { EXAMPLE } from "./example.ts";
import { FileChoice } from "./file_choice.tsx";
import { ImportPreview, ImportSummary } from "./import_preview.tsx";
import { type ImportProgress, startImport } from "./import_progress.ts";
import { ImportReport } from "./import_report.tsx";
import { knownAdditions, openLines, withKnown } from "./past_import.ts";
import { PastImports, pastImports, refreshPastImports, UndoImportButton } from "./past_imports.tsx";
import { type Entry, idsIn, type Plan, planAgain } from "./plan.ts";
import { readPets } from "./read_pets.ts";
import { useChosenFile } from "./use_chosen_file.ts";

export function openImportDialog(): void {
  openDialog((close) => <ImportDialog close={close} />);
}

/** An import that has begun. */
interface Begun {
  /** The number of the import in this dialog, from 1. */
  number: number;
  draft: Draft;
  plan: Plan;
  progress: ImportProgress;
}

function ImportDialog({ close }: { close: () => void }): JSX.Element {
  const [begun, setBegun] = useState<Begun | undefined>(undefined);
  const begin = (draft: Draft, plan: Plan) => {
    const number = (begun?.number ?? 0) + 1;
    // The new animals may push the selected ones out of sight.
    clearSelection();
    setBegun({ number, draft, plan, progress: startImport(draft.fileName, plan.entries) });
  };
  if (begun === undefined) return <ChosenFile begin={begin} close={close} />;
  // Each import opens a dialog of its own, so that the focus is on its first button.
  return <RunningImport key={begun.number} begun={begun} begin={begin} close={close} />;
}

interface StepProps {
  begin: (draft: Draft, plan: Plan) => void;
  close: () => void;
}

function ChosenFile({ begin, close }: StepProps): JSX.Element {
  const isLeft = useSignal(false);
  const { draft, isReading, fault, setFault, take, choose, chooseSheet } = useChosenFile();
  const [isAdding, setIsAdding] = useState(false);
  const { pets, fault: faultOfPets } = useAnimals(draft);
  const read = useMemo(
    () => draft && planOf(draft, pets),
    // The file may have names of categories.
    [draft, pets, namedCategories.value],
  );
  const known = useMemo(() => knownAdditions(pastImports.value), [pastImports.value]);
  const plan = useMemo(() => read && withKnown(read, known), [read, known]);
  useEffect(() => void refreshPastImports(), []);

  const showRefusal = (error: unknown) => setFault((error as Error).message);
  const addCategories = async (names: readonly string[]) => {
    if (isAdding) return;
    setIsAdding(true);
    setFault(undefined);
    // A name that is refused keeps no other one from being added.
    for (const name of names) {
      await attempt(`category ${name}`, () => addUnusedCategory(name), showRefusal);
    }
    setIsAdding(false);
    restoreFocus();
  };
  const addAgain = (present: readonly Entry[]) =>
    begin(draft!, planAgain(present, newIdempotencyKey()));
  const hasWork = !isReading && plan !== undefined && plan.entries.length > 0;
  return (
    <Dialog
      title={draft === undefined ? "Import animals" : <ImportOf draft={draft} />}
      isWide={draft !== undefined}
      no="Cancel"
      yes={hasWork ? buttonWords(plan) : undefined}
      busy={isAdding ? "Adding …" : undefined}
      background={{ subject: "Import", isLeft }}
      onYes={() => hasWork && begin(draft!, plan)}
      onClose={close}
      fault={fault ?? faultOfPets}
    >
      <div>
        <div class="import-head">
          <Summary isReading={isReading} draft={draft} plan={plan} />
          <FileChoice hasFile={draft !== undefined} onFile={choose} />
        </div>
        {draft === undefined
          ? (
            <>
              <ExampleLink />
              <PastImports onUndo={close} />
            </>
          )
          : (
            <ImportPreview
              draft={draft}
              plan={plan}
              onChange={take}
              onSheet={chooseSheet}
              onAddCategories={addCategories}
              onAddAgain={() => addAgain(plan!.present)}
            />
          )}
      </div>
    </Dialog>
  );
}

interface SummaryProps {
  isReading: boolean;
  draft: Draft | undefined;
  plan: Plan | undefined;
}

function Summary({ isReading, draft, plan }: SummaryProps): JSX.Element {
  if (isReading) return <p class="import-summary" role="status">Reading the file …</p>;
  if (draft !== undefined) return <ImportSummary draft={draft} plan={plan} />;
  return (
    <p class="soft">
      Choose a workbook of Excel (.xlsx) or a CSV file. Its first line has the titles of the
      columns: Name, Category and, if you like, Status.
    </p>
  );
}

function ExampleLink(): JSX.Element {
  return (
    <p class="soft">
      <button type="button" class="link" onClick={() => downloadCsv("example.csv", EXAMPLE)}>
        Download an example
      </button>
    </p>
  );
}

function RunningImport({ begun, begin, close }: StepProps & { begun: Begun }): JSX.Element {
  const { draft, plan, progress } = begun;
  const state = progress.state.value;
  const isRunning = state.end === undefined;
  const past = pastImports.value.find(({ id }) => id === progress.id);
  useUnsaved(isRunning);
  return (
    <Dialog
      title={<ImportOf draft={draft} />}
      isWide
      no={isRunning ? "Stop" : "Done"}
      busy={progress.isStopping.value ? "Stopping …" : undefined}
      onClose={isRunning ? progress.stop : close}
    >
      <ImportReport
        draft={draft}
        plan={plan}
        state={state}
        onAddAgain={(present) => begin(draft, planAgain(present, newIdempotencyKey()))}
      />
      {past !== undefined && openLines(past).length > 0 && (
        <div class="import-head">
          <p class="soft">You can undo this import for a day.</p>
          <UndoImportButton of={past} onUndo={close} />
        </div>
      )}
    </Dialog>
  );
}

function ImportOf({ draft }: { draft: Draft }): JSX.Element {
  return (
    <>
      Import <bdi translate={false}>{draft.fileName}</bdi>
    </>
  );
}

/** The animals that the file changes, as they are now; `undefined` until they are read. */
function useAnimals(draft: Draft | undefined) {
  const [pets, setPets] = useState<ReadonlyMap<number, Pet> | undefined>(undefined);
  const [fault, setFault] = useState<string | undefined>(undefined);
  const column = draft?.isOfChanges ? draft.columns.id : undefined;
  const table = draft?.table;
  useEffect(() => {
    setPets(undefined);
    setFault(undefined);
    if (table === undefined || column === undefined) return;
    const stop = new AbortController();
    readPets(idsIn(table, { id: column }), stop.signal).then(setPets, (error) => {
      if (!stop.signal.aborted) setFault(error.message);
    });
    return () => stop.abort();
  }, [table, column]);
  return { pets, fault };
}

function buttonWords({ entries }: Plan): string {
  const changed = entries.filter(({ kind }) => kind === "change").length;
  const added = entries.length - changed;
  if (changed === 0) return `Import ${animals(added)}`;
  const change = `Change ${animals(changed)}`;
  return added === 0 ? change : `${change} and add ${animals(added)}`;
}
