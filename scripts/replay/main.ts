/** `deno task replay`: rebuilds the projections from the log while the service runs. */

import { LogDamagedError } from "eventstore-less/log/read_log.ts";
import type { Findings } from "../verify/findings.ts";
import { GRACE_MS, replay, type ReplayDeps, type ReplayPhase } from "./replay.ts";
import { LEASE_LIMIT_MS } from "../guarded/replay_lease.ts";
import { formatCount, formatCounted } from "../cli/format.ts";
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
  start: "Nothing was written.",
  rebuild: "The service reads complete projections. Run deno task replay again: it resumes.",
  removal: "The rebuilt projections are served. The next replay removes the old ones.",
};

let left = LEFT.start;

await runCommand(COMMANDS.replay, {
  refusals: [LogDamagedError],
  interrupt: () => `Interrupted. ${left}`,
  async run({ grace }) {
    const graceMs = grace === undefined ? GRACE_MS : parseSeconds(grace);
    await withRetryingStore({}, (deps) => rebuild(deps, graceMs));
  },
});

async function rebuild(deps: ReplayDeps, graceMs: number): Promise<void> {
  const start = performance.now();
  let hasFilled = false;
  left = LEFT.rebuild;
  const { generation, events, resumedFrom, differences } = await replay(deps, {
    graceMs,
    progress: (phase, done, total) => {
      // Before it fills, the replay may wait until it can remove what an earlier one has left.
      if (phase === "fill") hasFilled = true;
      else if (hasFilled && phase === "wait") left = LEFT.removal;
      PROGRESS[phase](done, total);
    },
    onWait() {
      const wait = `waiting up to ${LEASE_LIMIT_MS / 1_000} s to see whether it is still running`;
      say(`Found an unfinished replay; ${wait}`);
    },
  });
  const seconds = ((performance.now() - start) / 1_000).toFixed(1);
  const earlier = resumedFrom === 0
    ? ""
    : `, ${formatCount(resumedFrom)} of them in an earlier run`;
  const what = `${formatCounted(events, "event")}${earlier}, in ${seconds} s`;
  say(`Replayed ${what}; generation ${generation} is served.`);
  describe(differences);
}

/** Says how the old projections differed from the log. */
function describe({ counts, faults, total }: Findings): void {
  if (total === 0) {
    say("The old projections matched the log.");
    return;
  }
  const { record_missing: missing = 0, record_extra: extra = 0, record_altered: altered = 0 } =
    counts;
  const lost = `${formatCount(missing)} ${missing === 1 ? "record" : "records"} missing`;
  const wrong = `${formatCount(extra)} extra, ${formatCount(altered)} altered`;
  say(`The old projections differed from the log: ${lost}, ${wrong}.`);
  for (const { message } of faults) say(`  ${message}`);
}

function parseSeconds(text: string): number {
  if (/^\d{1,5}(\.\d{1,3})?$/.test(text)) return Number(text) * 1_000;
  throw new UsageError(`--grace takes a number of seconds, not ${JSON.stringify(text)}`);
}
