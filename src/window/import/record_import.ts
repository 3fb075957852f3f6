/** Remembers a running import in the browser, so that it can be undone later. */

import type { Pet } from "../../../events/pet.ts";
import { newIdempotencyKey } from "../data/api.ts";
import { keyInfo } from "../data/key_info.ts";
import { serviceTime } from "../parts/clock.ts";
import { addImport, addLines, LINES_MAX } from "./import_store.ts";
import { pastLineOf } from "./past_import.ts";
import { refreshPastImports } from "./past_imports.tsx";
import type { Entry } from "./plan.ts";

export interface ImportRecord {
  id: string;
  /** Notes lines that were imported, with their animals after that. */
  note: (imported: readonly { entry: Entry; pet: Pet }[]) => void;
  /** Resolves when all is noted. */
  finish: () => Promise<void>;
}

export function recordImport(fileName: string, entries: readonly Entry[]): ImportRecord {
  const id = newIdempotencyKey();
  const owner = keyInfo.value?.id;
  const isKept = owner !== undefined && entries.length <= LINES_MAX;
  // A browser that cannot keep it imports all the same.
  let last = isKept
    ? addImport({ id, owner, fileName, startedAt: serviceTime() }).catch(() => {})
    : Promise.resolve();
  return {
    id,
    note(imported) {
      if (!isKept || imported.length === 0) return;
      const lines = imported.map(({ entry, pet }) => pastLineOf(entry, pet));
      last = last.then(() => addLines(id, lines)).catch(() => {});
    },
    async finish() {
      await last;
      await refreshPastImports();
    },
  };
}
