/**
 * Prints the log, one event a line, byte for byte as stored or in a form for people. Can follow the log.
 *
 *     deno task log [--from N | --last N] [--to N] [--type TYPE] [--follow] [--pretty]
 */

import { setColorEnabled } from "@std/fmt/colors";
import { EVENT_TYPES } from "../events/event.ts";
import { joinLines } from "../src/encoding/pack_lines.ts";
import { followLog } from "../src/log/follow_log.ts";
import type { StoredLine } from "../src/log/log_records.ts";
import { LogDamagedError, readWholeLog } from "../src/log/read_whole_log.ts";
import type { Service } from "../src/service.ts";
import { toolVariables } from "../src/variables.ts";
import { prettyEvent } from "./cli/pretty_event.ts";
import { EXIT, runTool, UsageError, withService, write } from "./cli/run_tool.ts";

const HELP = `
Prints the event log in order, one event a line, byte for byte as stored.

  deno task log [--from N | --last N] [--to N] [--type TYPE] [--follow] [--pretty]

  --from N      starts at position N (default: 1)
  --last N      starts with the newest N events; with --follow, 0 prints only new events
  --to N        ends at position N (default: the newest event)
  --type TYPE   prints only events of this type: ${EVENT_TYPES.join(", ")}
  --follow      then prints each new event of any instance, until Ctrl-C. If the reader of a pipe has
                closed it, the command ends at the next event.
  --pretty      prints time, position, type, subject and actor in columns, with colours on a terminal
                unless NO_COLOR is set

${toolVariables("NO_COLOR")}

Exit codes: 0 done, 2 the command could not run.
`;

/** Maximum time that an unread write may delay the exit after a signal. */
const LAST_WRITE_LIMIT_MS = 1_000;

await runTool({
  help: HELP,
  options: {
    from: { type: "string" },
    last: { type: "string" },
    to: { type: "string" },
    type: { type: "string" },
    follow: { type: "boolean" },
    pretty: { type: "boolean" },
  },
  async run({ type, follow = false, pretty = false, ...flags }, positionals) {
    if (positionals.length > 0) {
      throw new UsageError(`Unexpected argument ${JSON.stringify(positionals[0])}`);
    }
    if (type !== undefined && !(EVENT_TYPES as string[]).includes(type)) {
      throw new UsageError(`--type takes one of ${EVENT_TYPES.join(", ")}`);
    }
    const from = parsePosition("--from", flags.from);
    const to = parsePosition("--to", flags.to);
    const last = parseCount("--last", flags.last);
    if (from !== undefined && last !== undefined) {
      throw new UsageError("--from and --last cannot be used together");
    }
    const format = pretty ? prettyLines : storedLines;
    setColorEnabled(Deno.stdout.isTerminal() && !Deno.noColor);
    await withService({ create: false }, async (service) => {
      const { position } = (await service.heads.fresh()).head;
      const first = from ?? (last === undefined ? 1 : Math.max(1, position - last + 1));
      const lines = follow
        ? followedLines(service, { from: first, to })
        : readWholeLog(service.store, { from: first, to: Math.min(position, to ?? Infinity) });
      for await (const batch of lines) {
        const wanted = type === undefined ? batch : batch.filter((line) => typeOf(line) === type);
        // The reader has closed the pipe, as in `deno task log | head`.
        if (!await write(format(wanted))) break;
      }
    });
    return EXIT.done;
  },
});

/** The lines until SIGINT (Ctrl-C) or SIGTERM; neither is a failure. */
function followedLines({ store, heads, runtime }: Service, range: { from: number; to?: number }) {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => {
      stop.abort();
      runtime.setTimer(LAST_WRITE_LIMIT_MS, () => Deno.exit(EXIT.done));
    });
  }
  const reachable = (isThere: boolean, reason?: string) =>
    console.error(
      isThere
        ? "The store is available again."
        : `${reason}; waiting until the store answers again`,
    );
  return followLog({ store, heads, runtime, reachable }, { ...range, signal: stop.signal });
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

function typeOf({ position, line }: StoredLine): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(line)).type;
  } catch {
    throw new LogDamagedError(position, "is not JSON");
  }
}

function prettyLines(lines: StoredLine[]): Uint8Array {
  return new TextEncoder().encode(lines.map((line) => `${prettyEvent(line)}\n`).join(""));
}

function storedLines(lines: StoredLine[]): Uint8Array {
  return joinLines(lines.map(({ line }) => line));
}
