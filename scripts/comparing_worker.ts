/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** The thread of {@linkcode ComparingThread}: reads the configured store, and writes nothing. */

import { areHeld, type ExpectedEntries } from "../src/projections/expected_entries.ts";
import { reasonOf } from "../src/report.ts";
import type { Answer, Question } from "./comparing_thread.ts";
import { openPatientStore } from "./open_patient_store.ts";

const opening = openPatientStore({ examined: true });
// Who asks is told.
opening.catch(() => {});

self.onmessage = async ({ data: { id, expected } }: MessageEvent<Question>) => {
  self.postMessage(await answerTo(id, expected));
};

async function answerTo(id: number, expected: ExpectedEntries[]): Promise<Answer> {
  try {
    return { id, areHeld: await areHeld(await opening, expected) };
  } catch (error) {
    return { id, reason: reasonOf(error) };
  }
}
