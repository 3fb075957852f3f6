/** `deno task replay`: rebuilds the projections from the log while the service runs. */

import { LogDamagedError } from "eventstore-less";
import { replay, type ReplayPhase, type ToolStore, UnsoundError } from "eventstore-less/tools";
import { commandName } from "../../src/runtime/words.ts";
import { formatCounted } from "../cli/format.ts";
import { progressOf, type ShowProgress } from "../cli/progress.ts";
import { UsageError } from "../cli/table_entry.ts";
import { operatorCommand, say, withStore } from "../cli/run_command.ts";

const showRemoving = progressOf("Removing", "records");

const PROGRESS: Record<ReplayPhase, ShowProgress> = {
  clear: showRemoving,
  fill: progressOf("Filling", "events"),
  wait: progressOf("Waiting", "s"),
  remove: showRemoving,
};

/** Describes the state that an interrupted command leaves, and the command to run next. */
const LEFT = {
  start: () => "Nothing was written.",
  rebuild: () =>
    `The service reads complete projections. Run ${commandName("replay")} again: it begins again.`,
  removal: () => "The rebuilt projections are served. The next replay removes the old ones.",
};

let left: () => string = LEFT.start;

interface Flags {
  grace?: string;
}

export const command = operatorCommand<Flags>({
  refusals: [LogDamagedError],
  interrupt: () => `Interrupted. ${left()}`,
  adviceOn(error) {
    const isOfLog = error instanceof UnsoundError && error.code === "log_unsound";
    return isOfLog ? `; run ${commandName("audit")}` : "";
  },
  async run({ grace }) {
    const graceMs = grace === undefined ? undefined : parseSeconds(grace);
    await withStore((store) => rebuild(store, graceMs));
  },
});

async function rebuild(store: ToolStore, graceMs: number | undefined): Promise<void> {
  const start = performance.now();
  left = LEFT.rebuild;
  const { generation, events } = await replay(store, {
    graceMs,
    onProgress({ phase, done, total }) {
      if (phase === "wait") left = LEFT.removal;
      PROGRESS[phase](done, total);
    },
  });
  const seconds = ((performance.now() - start) / 1_000).toFixed(1);
  const what = `${formatCounted(events, "event")} in ${seconds} s`;
  say(`Replayed ${what}; generation ${generation} is served.`);
}

function parseSeconds(text: string): number {
  if (/^\d{1,5}(\.\d{1,3})?$/.test(text)) return Number(text) * 1_000;
  throw new UsageError(`--grace takes a number of seconds, not ${JSON.stringify(text)}`);
}
