/** The operators' commands, compared with raw KV that scans and writes the same records. */

import { fillStore } from "../support/fill_store.ts";
import { type RawRecord, rawRemove, rawScan, rawWrite } from "./raw_kv.ts";
import { runScript } from "./script_process.ts";
import { printTable } from "./table.ts";

/** Records per commit of raw KV: its maximum. */
const PER_COMMIT = 1_000;

export async function benchTools(folder: string, events: number) {
  const path = `${folder}/tools.sqlite3`;
  const exported = `${folder}/export.jsonl`;
  await fillStore(path, events);

  const scanAll = timeOf(await rawScan(path, []));
  const scanLog = timeOf(await rawScan(path, ["~log"]));
  const records = await readRecords(path);
  const write = async (name: string, prefixes: string[]) => {
    const written = records.filter(([key]) => prefixes.includes(key[0] as string));
    return timeOf(await rawWrite(`${folder}/raw-${name}.sqlite3`, written, PER_COMMIT));
  };
  const writeAll = await write("all", ["~log", "projection", "head"]);
  const writeProjections = await write("projections", ["projection"]);
  const removeProjections = timeOf(
    await rawRemove(`${folder}/raw-projections.sqlite3`, ["projection"], PER_COMMIT),
  );
  const entries = records.length;
  const projections = records.filter(([key]) => key[0] === "projection").length;

  // The seconds that raw KV needs for the same scans and writes.
  const raw = {
    audit: scanAll(entries),
    // Read the log to backfill and to compare, compare both generations, and remove the old one.
    replay: 2 * scanLog(events) + writeProjections(projections) + 2 * scanAll(projections) +
      removeProjections(projections),
    restore: writeAll(entries),
  };
  const own = {
    audit: (await runScript("audit", [], path)).seconds,
    replay: (await runScript("replay", ["--grace", "0"], path)).seconds,
    restore: NaN,
  };
  await runScript("log", [], path, { stdout: exported });
  own.restore = (await runScript("restore", [exported], `${folder}/restored.sqlite3`)).seconds;

  const rows = (["replay", "audit", "restore"] as const).map((name) => ({
    name,
    perSecond: events / own[name],
    rawPerSecond: events / raw[name],
    ratio: raw[name] / own[name],
  }));
  printTable(
    `Commands on ${events.toLocaleString("en")} events, start of the process included`,
    ["", "events/s", "raw KV/s", "ratio"],
    rows.map(({ name, perSecond, rawPerSecond, ratio }) => [name, perSecond, rawPerSecond, ratio]),
  );
  return rows;
}

/** The seconds for a number of entries at a rate. */
function timeOf(perSecond: number): (entries: number) => number {
  return (entries) => entries / perSecond;
}

async function readRecords(path: string): Promise<RawRecord[]> {
  const kv = await Deno.openKv(path);
  const records: RawRecord[] = [];
  for await (const { key, value } of kv.list<string | Uint8Array>({ prefix: [] })) {
    records.push([key, value]);
  }
  kv.close();
  return records;
}
