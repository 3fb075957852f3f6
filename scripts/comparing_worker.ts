/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** The thread of {@linkcode ComparingThread}: reads the configured store, and writes nothing. */

import { readConfig } from "../src/config.ts";
import { areHeld, type ExpectedEntries } from "../src/projections/expected_entries.ts";
import { reasonOf } from "../src/report.ts";
import { BoundedStore } from "../src/store/bounded_store.ts";
import { openStore } from "../src/store/open_store.ts";
import { PatientStore } from "../src/store/patient_store.ts";
import type { Store } from "../src/store/store.ts";
import { systemHost as host } from "../src/system_host.ts";
import type { Answer, Question } from "./comparing_thread.ts";

const opening = open();
// Who asks is told.
opening.catch(() => {});

self.onmessage = async ({ data: { id, expected } }: MessageEvent<Question>) => {
  self.postMessage(await answerTo(id, expected));
};

async function open(): Promise<Store> {
  const store = await openStore(readConfig().kvPath, { create: false, examined: true });
  return new PatientStore(new BoundedStore(store, host), host);
}

async function answerTo(id: number, expected: ExpectedEntries[]): Promise<Answer> {
  try {
    return { id, areHeld: await areHeld(await opening, expected) };
  } catch (error) {
    return { id, reason: reasonOf(error) };
  }
}
