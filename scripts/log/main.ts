/**
 * Prints the log, one event a line, byte for byte as stored or in a form for people. Can follow the log.
 *
 *     deno task log [--from N | --last N] [--to N] [--since TIME] [--until TIME] [--type TYPE]
 *                   [--subject SUBJECT] [--actor ACTOR] [--follow] [--pretty]
 *     deno task log --recover
 */

import { setColorEnabled } from "@std/fmt/colors";
import { joinLines } from "../../src/encoding/pack_lines.ts";
import { readLog, type StoredLine } from "../../src/log/read_log.ts";
import { readStoreConfig } from "../../src/settings/config.ts";
import { recoverLog } from "./recover_log.ts";
import { openFileToRead } from "../../src/store/open_store.ts";
import type { Store } from "../../src/store/store.ts";
import { listApiKeys } from "../../src/projections/api_key_reader.ts";
import type { Service } from "../../src/service.ts";
import { ServiceError } from "../../src/service_error.ts";
import { eventFilter } from "./event_filter.ts";
import { prettyEvent } from "./pretty_event.ts";
import { followStore } from "../cli/log_source.ts";
import {
  EXIT,
  runCommand,
  say,
  UsageError,
  withRetryingStore,
  withService,
  write,
} from "../cli/run_command.ts";
import { COMMANDS } from "../launch/commands.ts";

const stop = new AbortController();
let isFollowing = false;
let isRecovering = false;
/** The last position that was printed, and the last one to print. */
let printed = { to: 0, of: 0 };

await runCommand(COMMANDS.log, {
  stop,
  interrupt() {
    const { to, of } = printed;
    const next = `deno task log --from ${to + 1}`;
    if (isFollowing) return `Stopped after position ${to}. ${next} --follow continues.`;
    const rest = isRecovering ? "Run deno task log --recover again." : `${next} prints the rest.`;
    return `Interrupted after position ${to} of ${of}. ${rest}`;
  },
  async run({ follow = false, pretty = false, recover = false, from, to, last, ...filters }) {
    if (recover) {
      if (Deno.args.length > 1) throw new UsageError("--recover cannot be used with another flag");
      isRecovering = true;
      return await recoverStore();
    }
    const range = {
      from: parsePosition("--from", from),
      to: parsePosition("--to", to),
      last: parseCount("--last", last),
    };
    if (range.from !== undefined && range.last !== undefined) {
      throw new UsageError("--from and --last cannot be used together");
    }
    if (range.to !== undefined && range.to < (range.from ?? 1)) {
      throw new UsageError("--to must not be before --from");
    }
    if (range.last !== undefined && !follow) expectAlone("--last", { to, ...filters });
    const isWanted = eventFilter(filters);
    isFollowing = follow;
    setColorEnabled(Deno.stdout.isTerminal() && !Deno.noColor);
    await withService({ create: false }, async (service) => {
      const { head } = await service.heads.fresh();
      const format = pretty ? prettyLines(await labelsOf(service)) : storedLines;
      const first = range.from ??
        (range.last === undefined ? 1 : Math.max(1, head.position - range.last + 1));
      printed = { to: first - 1, of: Math.min(head.position, range.to ?? Infinity) };
      const lines = follow
        ? followStore(service, { from: first, to: range.to, signal: stop.signal })
        : readLog(service.store, { from: first, to: printed.of });
      for await (const batch of lines) {
        // The reader has closed the pipe, as in `deno task log | head`.
        if (!await write(format(isWanted === undefined ? batch : batch.filter(isWanted)))) return;
        printed.to = batch.at(-1)!.position;
        if (stop.signal.aborted) return;
      }
    });
  },
});

async function recoverStore(): Promise<number> {
  const { store: location } = readStoreConfig();
  if (location.kind !== "file") {
    return await withRetryingStore(
      { accept: async () => {} },
      ({ store }) => printRecovered(store),
    );
  }
  using store = await openFileToRead(location);
  return await printRecovered(store);
}

async function printRecovered(store: Store): Promise<number> {
  const { events, fault, lines } = await recoverLog(store);
  printed.of = events;
  for await (const batch of lines()) {
    // The reader has closed the pipe.
    if (!await write(joinLines(batch))) return EXIT.done;
    printed.to += batch.length;
    if (stop.signal.aborted) return EXIT.done;
  }
  if (fault === undefined) {
    say(`Printed all ${events} events of the log; all of them verify.`);
    return EXIT.done;
  }
  say(
    `Printed the first ${events} events of the log, which verify. Left out the rest: ${fault}`,
  );
  return EXIT.refused;
}

/** The labels of all keys by id. If the projections cannot be read, a replay is needed, and the log has no labels. */
async function labelsOf({ store, heads }: Service): Promise<Map<string, string>> {
  try {
    const keys = await heads.use((head) => listApiKeys(store, head));
    return new Map(keys.map(({ id, label }) => [id, label]));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "projection_damaged") throw error;
    return new Map();
  }
}

/** Throws if another flag would leave out events after that many were counted. */
function expectAlone(flag: string, others: Record<string, string | undefined>): void {
  const other = Object.keys(others).find((name) => others[name] !== undefined);
  if (other === undefined) return;
  throw new UsageError(`${flag} and --${other} can be used together only with --follow`);
}

function parsePosition(flag: string, text: string | undefined): number | undefined {
  const position = parseCount(flag, text);
  if (position !== 0) return position;
  throw new UsageError(`${flag} takes a position, 1 or more, not "0"`);
}

function parseCount(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^(0|[1-9]\d{0,14})$/.test(text)) return Number(text);
  throw new UsageError(`${flag} takes a whole number, not ${JSON.stringify(text)}`);
}

function prettyLines(labels: Map<string, string>) {
  return (lines: StoredLine[]) =>
    new TextEncoder().encode(lines.map((line) => `${prettyEvent(line, labels)}\n`).join(""));
}

function storedLines(lines: StoredLine[]): Uint8Array {
  return joinLines(lines.map(({ line }) => line));
}
