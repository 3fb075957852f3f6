/**
 * Prints the log, byte for byte as it is stored, a line an event.
 *
 *     deno task log [--from N] [--to N] [--type TYPE]
 */

import { EVENT_TYPES } from "../events/event.ts";
import { readLog } from "../src/log/read_log.ts";
import { EXIT, runTool, UsageError, withService, writeAll } from "./run_tool.ts";

const HELP = `
Prints the event log, byte for byte as it is stored, one line an event, in order.

  deno task log [--from N] [--to N] [--type TYPE]

  --from N      from this position on (default: 1)
  --to N        up to this position (default: the newest)
  --type TYPE   only events of this type: ${EVENT_TYPES.join(", ")}

The store is named by KV_PATH (default .data/pets.sqlite3).
Exit codes: 0 done, 2 the command could not run.
`;

const LINE_FEED = 10;

await runTool({
  help: HELP,
  options: { from: { type: "string" }, to: { type: "string" }, type: { type: "string" } },
  async run({ from, to, type }, positionals) {
    if (positionals.length > 0) {
      throw new UsageError(`Unexpected argument ${JSON.stringify(positionals[0])}`);
    }
    if (type !== undefined && !(EVENT_TYPES as string[]).includes(type)) {
      throw new UsageError(`--type takes one of ${EVENT_TYPES.join(", ")}`);
    }
    const first = parsePosition("--from", from) ?? 1;
    const last = parsePosition("--to", to);
    await withService({ create: false }, async ({ store, heads }) => {
      const { head } = await heads.fresh();
      const range = { from: first, to: Math.min(head.position, last ?? Infinity) };
      for await (const batch of readLog(store, range)) {
        const lines = batch.map(({ value }) => value as Uint8Array);
        const wanted = type === undefined ? lines : lines.filter((line) => typeOf(line) === type);
        await writeAll(joinLines(wanted));
      }
    });
    return EXIT.done;
  },
});

function parsePosition(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new UsageError(`${flag} takes a position, 1 or more, not ${JSON.stringify(text)}`);
}

function typeOf(line: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(line)).type;
}

function joinLines(lines: Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(lines.reduce((length, line) => length + line.length + 1, 0));
  let offset = 0;
  for (const line of lines) {
    bytes.set(line, offset);
    offset += line.length;
    bytes[offset++] = LINE_FEED;
  }
  return bytes;
}
