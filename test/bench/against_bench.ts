/** The same workloads on this checkout and on another one, in turns. */

import { pathToFileURL } from "node:url";
import { UsageError } from "../../scripts/cli/run_command.ts";
import { fillByCheckout } from "./fill_by_checkout.ts";
import { measure, type Operation, OPERATIONS } from "./http_bench.ts";
import { runScript, type ScriptRun } from "./script_process.ts";
import { ROOT, type ServerProcess, startService } from "./server_process.ts";
import { median, printTable, sum } from "./table.ts";
import { benchWriters } from "./writers_bench.ts";

export interface AgainstOptions {
  /** The folder of the other checkout. */
  against: string;
  rounds: number;
  ms: number;
  /** Number of pets in the store of the commands. */
  events: number;
  /** Measures only the workloads with this text in their names. */
  only: string;
}

/** Number of pets in the store of the requests. */
const PETS = 10_000;

/** Reads come first, because creates make the store larger. */
const REQUESTS: Operation[] = [
  ...[500, PETS].map((ids) => ({
    ...OPERATIONS[0],
    name: `read by id, ${ids.toLocaleString("en")} at random`,
    path: "/v1/pets/{id}",
    ids,
  })),
  ...OPERATIONS.slice(1),
];

/** A checkout, and its own files for the commands. */
interface CommandFiles {
  root: URL;
  kvPath: string;
  /** A copy of the store, which each replay rebuilds. */
  replayedPath: string;
  exportPath: string;
}

const COMMANDS: { name: string; run(files: CommandFiles): Promise<ScriptRun> }[] = [
  {
    name: "replay",
    run: ({ root, replayedPath }) => runScript("replay", ["--grace", "0"], replayedPath, { root }),
  },
  { name: "restore", run: restoreIntoNewStore },
  { name: "audit", run: ({ root, kvPath }) => runScript("audit", [], kvPath, { root }) },
  { name: "export", run: exportLog },
];

const BESIDE_WRITERS = { name: "reads beside writers" };

/** A value of this checkout and of the other one. */
type Pair<T> = [own: T, other: T];

interface Sample {
  perSecond: number;
  /** Processor time per request or event. */
  cpuUs: number;
  failures: number;
}

interface CommandSample extends Sample {
  peakMiB: number;
}

interface Row<T extends Sample> {
  name: string;
  rounds: Pair<T>[];
}

/** Measures in turns, prints the ratios, and resolves to the number of failed requests. */
export async function benchAgainst(options: AgainstOptions): Promise<number> {
  const isWanted = ({ name }: { name: string }) => name.includes(options.only);
  const workloads = [...REQUESTS, BESIDE_WRITERS, ...COMMANDS];
  if (!workloads.some(isWanted)) {
    const names = workloads.map(({ name }) => JSON.stringify(name));
    throw new UsageError(`--only takes a part of one of these names: ${names.join(", ")}`);
  }
  const roots: Pair<URL> = [ROOT, pathToFileURL(`${options.against}/`)];
  const folder = await Deno.makeTempDir({ prefix: "animal-store-against-" });
  try {
    const rows = await benchRequests(folder, roots, REQUESTS.filter(isWanted), options);
    const besideWriters = isWanted(BESIDE_WRITERS)
      ? await benchWriters(folder, roots, options)
      : undefined;
    await benchCommands(folder, roots, COMMANDS.filter(isWanted), options);
    return sum(rows.map(failuresOf)) + (besideWriters?.failures ?? 0);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function benchRequests(
  folder: string,
  roots: Pair<URL>,
  operations: Operation[],
  { rounds, ms }: AgainstOptions,
): Promise<Row<Sample>[]> {
  if (operations.length === 0) return [];
  const stores = await onBoth(async (index) => {
    const path = `${folder}/requests-${index}.sqlite3`;
    return { path, token: await fillByCheckout(roots[index], path, PETS) };
  });
  const rows: Row<Sample>[] = [];
  for (const operation of operations) {
    // Each workload gets new processes, so that an earlier one cannot affect it.
    const services: ServerProcess[] = [];
    try {
      for (const [index, { path }] of stores.entries()) {
        services.push(await startService(path, roots[index]));
      }
      const measured = await inTurns(
        rounds,
        (index) => measure(services[index], stores[index].token, operation, ms),
      );
      rows.push({ name: operation.name, rounds: measured });
    } finally {
      for (const service of services) await service.stop();
    }
  }
  printSpeed(`Requests on ${PETS.toLocaleString("en")} pets`, rows, rounds);
  return rows;
}

async function benchCommands(
  folder: string,
  roots: Pair<URL>,
  commands: typeof COMMANDS,
  { rounds, events }: AgainstOptions,
): Promise<void> {
  if (commands.length === 0) return;
  const files = await onBoth(async (index): Promise<CommandFiles> => {
    const kvPath = `${folder}/commands-${index}.sqlite3`;
    const replayedPath = `${folder}/replayed-${index}.sqlite3`;
    const own = { root: roots[index], kvPath, replayedPath, exportPath: `${kvPath}.jsonl` };
    await fillByCheckout(roots[index], kvPath, events);
    await Deno.copyFile(kvPath, replayedPath);
    await exportLog(own);
    return own;
  });
  const rows: Row<CommandSample>[] = [];
  for (const { name, run } of commands) {
    const measured = await inTurns(rounds, async (index) => {
      const { seconds, cpuMs, peakMiB } = await run(files[index]);
      const cpuUs = cpuMs * 1_000 / events;
      // A command that fails ends the measurement.
      return { perSecond: events / seconds, cpuUs, failures: 0, peakMiB };
    });
    rows.push({ name, rounds: measured });
  }
  const fileMiB = await onBoth(async (index) =>
    (await Deno.stat(files[index].kvPath)).size / 1024 ** 2
  );
  const size = events.toLocaleString("en");
  printSpeed(`Commands on ${size} events, including the start of the process`, rows, rounds);
  printTable(
    "Memory and disk: a ratio < 1 means that this checkout needs less",
    ["", "this MiB", "other MiB", "ratio", "lowest", "highest"],
    [
      ...rows.map(({ name, rounds }) => [
        `${name}, peak of the resident memory`,
        ...cellsOf(rounds.map(([own, other]) => [own.peakMiB, other.peakMiB])),
      ]),
      [`SQLite file of ${size} pets`, ...cellsOf([fileMiB])],
    ],
  );
}

function exportLog({ root, kvPath, exportPath }: CommandFiles): Promise<ScriptRun> {
  return runScript("log", [], kvPath, { root, stdout: exportPath });
}

async function restoreIntoNewStore({ root, exportPath }: CommandFiles): Promise<ScriptRun> {
  const folder = await Deno.makeTempDir({ prefix: "animal-store-restored-" });
  try {
    return await runScript("restore", [exportPath], `${folder}/pets.sqlite3`, { root });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function onBoth<T>(run: (index: 0 | 1) => Promise<T>): Promise<Pair<T>> {
  return [await run(0), await run(1)];
}

/** Runs a measurement on both, in the order ABBA, so that other load on the machine affects both. */
async function inTurns<T>(
  rounds: number,
  run: (index: 0 | 1) => Promise<T>,
): Promise<Pair<T>[]> {
  const pairs: Pair<T>[] = [];
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) {
      pairs.push(await onBoth(run));
    } else {
      const other = await run(1);
      pairs.push([await run(0), other]);
    }
  }
  return pairs;
}

function printSpeed(title: string, rows: Row<Sample>[], rounds: number): void {
  printTable(
    `${title} (rounds: ${rounds}): a ratio > 1 means that this checkout needs less time`,
    [
      ...["", "this/s", "other/s", "ratio", "lowest", "highest"],
      ...["this cpu µs", "other cpu µs", "ratio", "lowest", "highest", "failures"],
    ],
    rows.map((row) => [
      row.name,
      ...cellsOf(row.rounds.map(([own, other]) => [own.perSecond, other.perSecond])),
      ...cellsOf(
        row.rounds.map(([own, other]) => [own.cpuUs, other.cpuUs]),
        ([own, other]) => other / own,
      ),
      failuresOf(row),
    ]),
  );
}

function failuresOf({ rounds }: Row<Sample>): number {
  return sum(rounds.map(([own, other]) => own.failures + other.failures));
}

/** The medians, their ratio, and the lowest and the highest ratio of a round. */
function cellsOf(
  rounds: Pair<number>[],
  ratioOf = ([own, other]: Pair<number>) => own / other,
): number[] {
  const medians: Pair<number> = [
    median(rounds.map(([own]) => own)),
    median(rounds.map(([, other]) => other)),
  ];
  const ratios = rounds.map(ratioOf);
  return [...medians, ratioOf(medians), Math.min(...ratios), Math.max(...ratios)];
}
