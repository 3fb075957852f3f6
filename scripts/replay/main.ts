/** `deno task replay`: rebuilds the projections from the log while the service runs. */

import { APPLICATION } from "../../src/application.ts";
import {
  formatCounted,
  GRACE_MS,
  replay,
  type ReplayDeps,
  type ReplayPhase,
} from "eventstore-less/tools";
import { LogDamagedError } from "eventstore-less";
import { commandName } from "../../src/runtime/words.ts";
import { progressOf, type ShowProgress } from "../cli/progress.ts";
import { runCommand, say, UsageError, withRetryingStore } from "../cli/run_command.ts";
import { COMMANDS } from "../cli/commands.ts";

const PROGRESS: Record<ReplayPhase, ShowProgress> = {
  fill: progressOf("Filling", "events"),
  wait: progressOf("Waiting", "s"),
  remove: progressOf("Removing", "records"),
};

/** Describes the state that an interrupted command leaves, and the command to run next. */
const LEFT = {
  start: () => "Nothing was written.",
  rebuild: () =>
    `The service reads complete projections. Run ${commandName("replay")} again: it begins again.`,
  removal: () => "The rebuilt projections are served. The next replay removes the old ones.",
};

let left: () => string = LEFT.start;

await runCommand(COMMANDS.replay, {
  refusals: [LogDamagedError],
  interrupt: () => `Interrupted. ${left()}`,
  async run({ grace }) {
    const graceMs = grace === undefined ? GRACE_MS : parseSeconds(grace);
    await withRetryingStore({}, (deps) => rebuild({ application: APPLICATION, ...deps }, graceMs));
  },
});

async function rebuild(deps: ReplayDeps, graceMs: number): Promise<void> {
  const start = performance.now();
  left = LEFT.rebuild;
  const { generation, events } = await replay(deps, {
    graceMs,
    progress: (phase, done, total) => PROGRESS[phase](done, total),
    onSwitched: () => {
      left = LEFT.removal;
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
