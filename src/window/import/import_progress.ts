/** A running import: its progress, and the outcomes of its lines. */

import { type ReadonlySignal, signal } from "@preact/signals";
import type { Pet } from "../../../events/pet.ts";
import type { Entry, LeftOut } from "./plan.ts";
import { recordImport } from "./record_import.ts";
import { type EndedLine, type LineOutcome, runImport } from "./run_import.ts";

export interface ImportState {
  added: number;
  changed: number;
  /** Lines whose animals an earlier import has added. */
  present: readonly Entry[];
  failed: readonly LeftOut[];
  /** How the run has ended; `undefined` until then. */
  end: { kind: "done" | "stopped" } | { kind: "failed"; fault: string } | undefined;
}

export interface ImportProgress {
  /** The id of the import, by which the browser remembers it. */
  id: string;
  state: ReadonlySignal<ImportState>;
  /** Whether the import waits for the lines in flight, and sends no others. */
  isStopping: ReadonlySignal<boolean>;
  stop: () => void;
}

export function startImport(fileName: string, entries: readonly Entry[]): ImportProgress {
  const record = recordImport(fileName, entries);
  const stop = new AbortController();
  const tally = new Tally();
  const state = signal(tally.state());
  const isStopping = signal(false);
  const note = (lines: readonly EndedLine[]) => {
    for (const { entry, outcome } of lines) tally.note(entry, outcome);
    record.note(lines.flatMap(importedBy));
    state.value = tally.state();
  };
  const run = runImport(entries, note, stop.signal);
  const finish = async (end: ImportState["end"]) => {
    await record.finish();
    isStopping.value = false;
    state.value = tally.state(end);
  };
  run.then(
    () => finish({ kind: tally.count() < entries.length ? "stopped" : "done" }),
    (error) => finish({ kind: "failed", fault: error.message }),
  );
  return {
    id: record.id,
    state,
    isStopping,
    stop() {
      isStopping.value = true;
      stop.abort();
    },
  };
}

/** Number of lines whose outcome is known. */
export function countOf({ added, changed, present, failed }: ImportState): number {
  return added + changed + present.length + failed.length;
}

/** The animal of a line that was imported. */
function importedBy({ entry, outcome }: EndedLine): { entry: Entry; pet: Pet }[] {
  const isImported = outcome.kind === "added" || outcome.kind === "changed";
  return isImported ? [{ entry, pet: outcome.pet }] : [];
}

class Tally {
  #counts = { added: 0, changed: 0 };
  #present: Entry[] = [];
  #failed: LeftOut[] = [];

  note(entry: Entry, outcome: LineOutcome): void {
    switch (outcome.kind) {
      case "added":
      case "changed":
        this.#counts[outcome.kind]++;
        break;
      case "present":
        this.#present.push(entry);
        break;
      case "failed":
        this.#failed.push({ row: entry.row, fault: outcome.fault });
        break;
    }
  }

  count(): number {
    return countOf(this.state());
  }

  /** Lists in the order of the file, although lines end in another one. */
  state(end?: ImportState["end"]): ImportState {
    return {
      ...this.#counts,
      present: this.#present.toSorted((a, b) => a.row.line - b.row.line),
      failed: this.#failed.toSorted((a, b) => a.row.line - b.row.line),
      end,
    };
  }
}
