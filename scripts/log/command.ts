import { type Instance, ServiceError } from "eventstore-less";
import { eventOf, joinLines, readLog, type StoredLine } from "eventstore-less/parts";
import { exportLog } from "eventstore-less/tools";
import { commandName } from "../../src/runtime/words.ts";
import { APPLICATION } from "../../src/application.ts";
import { isatty } from "node:tty";
import { isNoColor } from "this-runtime/stdio.ts";
import { setColorEnabled } from "@std/fmt/colors";
import { listApiKeys } from "../../src/keys/api_key_reader.ts";
import { CSV_HEADER, csvEvent } from "./csv_event.ts";
import { eventFilter, type EventFlags } from "./event_filter.ts";
import { prettyEvent } from "./pretty_event.ts";
import { configuredStore } from "../cli/configured_store.ts";
import { parseCount } from "../cli/flag_values.ts";
import { followStore } from "../cli/log_source.ts";
import { UsageError } from "../cli/table_entry.ts";
import { EXIT, operatorCommand, say, withInstance, write } from "../cli/run_command.ts";

const encoder = new TextEncoder();

const stop = new AbortController();
let isFollowing = false;
let isRecovering = false;
/** The last position that was printed, and the last one to print. */
let printed = { to: 0, of: 0 };

interface Flags extends EventFlags {
  from?: string;
  last?: string;
  to?: string;
  follow?: boolean;
  pretty?: boolean;
  csv?: boolean;
  recover?: boolean;
}

export const command = operatorCommand<Flags>({
  stop,
  interrupt() {
    const { to, of } = printed;
    const next = commandName(`log --from ${to + 1}`);
    if (isFollowing) return `Stopped after position ${to}. ${next} --follow continues.`;
    if (isRecovering) {
      return `Interrupted after position ${to}. Run ${commandName("log --recover")} again.`;
    }
    return `Interrupted after position ${to} of ${of}. ${next} prints the rest.`;
  },
  endsBySignal: () => isFollowing,
  async run(flags) {
    const { follow = false, recover = false, from, last, pretty, csv, ...selecting } = flags;
    if (recover) {
      if (Object.keys(flags).length > 1) {
        throw new UsageError("--recover cannot be used with another flag");
      }
      isRecovering = true;
      return await printReadable();
    }
    const { to: end, ...filters } = selecting;
    const start = parseCount("--from", from, 1);
    const to = parseCount("--to", end, 1) ?? Infinity;
    const newest = parseCount("--last", last, 0);
    if (start !== undefined && newest !== undefined) {
      throw new UsageError("--from and --last cannot be used together");
    }
    if (to < (start ?? 1)) throw new UsageError("--to must not be before --from");
    const [other] = Object.keys(selecting);
    if (newest !== undefined && other !== undefined && !follow) {
      // The other flag would leave out events after that many were counted.
      throw new UsageError(`--last and --${other} can be used together only with --follow`);
    }
    if (pretty && csv) throw new UsageError("--pretty and --csv cannot be used together");
    const isWanted = eventFilter(filters);
    isFollowing = follow;
    setColorEnabled(isatty(1) && !isNoColor());
    await withInstance(async (instance) => {
      const { position } = (await instance.heads.fresh()).head;
      const format = await formatOf(instance, { pretty, csv });
      const firstOfNewest = newest === undefined ? 1 : Math.max(1, position - newest + 1);
      const first = start ?? firstOfNewest;
      printed = { to: first - 1, of: Math.min(position, to) };
      const lines = follow
        ? followStore(instance, { from: first, to, signal: stop.signal })
        : readLog(instance.store, { from: first, to: printed.of });
      const prefix = { end: first - 1, eventsAfter: 0 };
      if (csv) await write(encoder.encode(CSV_HEADER));
      for await (const batch of lines) {
        const wanted = isWanted === undefined ? batch : batch.filter(isWanted);
        const isRead = await write(format(wanted));
        // The reader has closed the pipe, as in `deno task log | head`.
        if (!isRead) return;
        printed.to = batch.at(-1)!.position;
        if (stop.signal.aborted) return;
        for (const { position } of wanted) {
          if (position === prefix.end + 1) prefix.end = position;
          else prefix.eventsAfter++;
        }
      }
      // With any other filter, nobody takes the events for a whole log.
      const isUntil = Object.keys(filters).join() === "until" && first === 1;
      if (isUntil && prefix.eventsAfter > 0) sayNoPrefix(prefix);
    });
  },
});

function sayNoPrefix({ end, eventsAfter }: { end: number; eventsAfter: number }): void {
  const others = eventsAfter === 1 ? "1 event after it is" : `${eventsAfter} events after it are`;
  const beginning = commandName(`log --to ${end}`);
  const remedy = end === 0 ? "" : ` ${beginning} prints the events before it.`;
  say(
    `The events are no prefix of the log, and cannot be restored: position ${end + 1} is of a ` +
      `later time, but ${others} not.${remedy}`,
  );
}

/** Returns the function that formats lines: as they are stored, for people, or as rows of CSV. */
async function formatOf(instance: Instance, { pretty = false, csv = false }) {
  if (!pretty && !csv) return (lines: StoredLine[]) => joinLines(lines.map(({ line }) => line));
  const labels = await labelsOf(instance);
  return (lines: StoredLine[]) => {
    let text = "";
    for (const line of lines) {
      const event = eventOf(APPLICATION, line.line);
      if (event?.type === "ApiKeyIssued") labels.set(event.data.keyId, event.data.label);
      text += pretty ? `${prettyEvent(line, event, labels)}\n` : csvEvent(line, event, labels);
    }
    return encoder.encode(text);
  };
}

/** Prints every line that can be read, and says which positions it could not read. */
async function printReadable(): Promise<number> {
  const chunks = exportLog({ application: APPLICATION, location: configuredStore() }, {
    recover: true,
    signal: stop.signal,
    onProgress: ({ done }) => printed.to = done,
  });
  let next = await chunks.next();
  for (; !next.done; next = await chunks.next()) {
    const isRead = await write(next.value);
    if (!isRead) return EXIT.done;
  }
  const { position, missing } = next.value;
  const end =
    `Printed all lines that can be read, sound or not; the last event is at position ${position}.`;
  if (missing.length === 0) {
    say(end);
    return EXIT.done;
  }
  const ranges = missing.map(({ from, to }) => rangeOf(from, to));
  say(`${end} No line is the event at positions ${ranges.join(", ")}.`);
  return EXIT.refused;
}

function rangeOf(first: number, last: number): string {
  return first === last ? `${first}` : `${first} to ${last}`;
}

/** The labels of all keys by id. If the projections cannot be read, a replay is needed, and the log has no labels. */
async function labelsOf({ store, heads }: Instance): Promise<Map<string, string>> {
  try {
    const apiKeys = await heads.use(({ head }) => listApiKeys(store, head));
    return new Map(apiKeys.map(({ id, label }) => [id, label]));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "projection_damaged") throw error;
    return new Map();
  }
}
