/**
 * Measures this checkout and another one in turns, and prints ratios.
 *
 *     deno task bench [--against DIR] [--rounds N] [--seconds S] [--pets N] [--events N] [--only TEXT]
 */

import { pathToFileURL } from "node:url";
import { parseArguments, UsageError } from "../../scripts/cli/table_entry.ts";
import { helpOf } from "../../scripts/cli/help.ts";
import { EXIT, operatorCommand } from "../../scripts/cli/run_command.ts";
import { TempStore } from "../support/temp_store.ts";
import { type CommandFiles, COMMANDS, exportLog } from "./commands.ts";
import { type Checkout, fillByCheckout, ROOT, startService } from "./processes.ts";
import { measure, type Operation, OPERATIONS, slowDisk } from "./operations.ts";

const BENCH = {
  title: "Compares this checkout with another one, on loopback",
  details: "Measures each workload in turns, in a temporary folder, and prints ratios.",
  usage: [
    "bench [--against DIR] [--rounds N] [--seconds S] [--pets N] [--events N] [--only TEXT]",
  ],
  flags: {
    "--against DIR": `the folder of the other checkout, such as git worktree add DIR COMMIT makes
      (default: this one), or node: the program that deno task build made of this one`,
    "--rounds N": "measures each workload N times on each (default: 5)",
    "--seconds S": "how long each measurement of requests takes (default: 4)",
    "--pets N": "number of pets in the store of the requests (default: 10000)",
    "--events N": "number of events for replay, restore, audit and export (default: 300000)",
    "--only TEXT": "only workloads with this text in their names, for example create or replay",
  },
  variables: [],
  refusal: "a response was an error",
} as const;

interface Options {
  other: Checkout;
  folder: string;
  rounds: number;
  ms: number;
  pets: number;
  events: number;
}

/** A value of this checkout and of the other one. */
type Pair<T> = [own: T, other: T];

interface Flags {
  against?: string;
  rounds?: string;
  seconds?: string;
  pets?: string;
  events?: string;
  only?: string;
}

const bench = operatorCommand<Flags>({
  async run(
    {
      against = ".",
      rounds = "5",
      seconds = "4",
      pets = "10000",
      events = "300000",
      only = "",
    },
  ) {
    const isWanted = ({ name }: { name: string }) => name.includes(only);
    const operations = OPERATIONS.filter(isWanted);
    const commands = COMMANDS.filter(isWanted);
    if (operations.length + commands.length === 0) {
      const names = [...OPERATIONS, ...COMMANDS].map(({ name }) => JSON.stringify(name));
      throw new UsageError(`--only takes a part of one of these names: ${names.join(", ")}`);
    }
    await using temp = await TempStore.make();
    const options = {
      other: checkoutAt(against),
      folder: temp.folder,
      rounds: parseCount("--rounds", rounds),
      ms: parseCount("--seconds", seconds) * 1_000,
      pets: parseCount("--pets", pets),
      events: parseCount("--events", events),
    };
    const failures = await benchRequests(operations, options);
    if (commands.length > 0) await benchCommands(commands, options);
    return failures === 0 ? EXIT.done : EXIT.refused;
  },
});

if (Deno.args.includes("--help")) console.log(helpOf(BENCH));
else await bench(() => parseArguments(BENCH, Deno.args));

function checkoutAt(against: string): Checkout {
  if (against === "node") return { root: ROOT, isOnNode: true };
  return { root: pathToFileURL(`${against}/`) };
}

function parseCount(flag: string, text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new UsageError(`${flag} takes a whole number, not ${JSON.stringify(text)}`);
}

/** Resolves to the number of failed requests. */
async function benchRequests(operations: Operation[], options: Options): Promise<number> {
  const { other, folder, rounds, ms, pets } = options;
  if (operations.length === 0) return 0;
  const paths = [`${folder}/own.sqlite3`, `${folder}/other.sqlite3`];
  const token = await fillByCheckout(ROOT, paths[0], pets);
  const otherToken = await fillByCheckout(other.root, paths[1], pets);
  const rows: (string | number)[][] = [];
  let failures = 0;
  for (const operation of operations) {
    // Each workload gets new processes, so that an earlier one cannot affect it.
    await using stack = new AsyncDisposableStack();
    const env = await slowDisk(operation, folder);
    const own = stack.use(await startService(paths[0], { root: ROOT }, env));
    const rival = stack.use(await startService(paths[1], other, env));
    const samples = await inTurns(rounds, [
      () => measure(own, token, operation, ms, pets),
      () => measure(rival, otherToken, operation, ms, pets),
    ]);
    const failed = samples.flat().reduce((sum, it) => sum + it.failures, 0);
    failures += failed;
    rows.push([
      operation.name,
      ...ratio(samples.map(([one, two]) => [one.perSecond, two.perSecond])),
      ...ratio(samples.map(([one, two]) => [one.cpuUs, two.cpuUs]), true),
      median(samples.map(([one]) => one.p50Ms)),
      median(samples.map(([one]) => one.p99Ms)),
      own.memoryMiB(),
      rival.memoryMiB(),
      failed,
    ]);
  }
  printTable(
    `Requests on ${pets} pets (rounds: ${rounds}): a ratio > 1 means that this checkout needs less`,
    [
      ...["", "this/s", "other/s", "ratio", "lowest", "highest"],
      ...["this cpu µs", "other cpu µs", "ratio", "lowest", "highest"],
      ...["p50 ms", "p99 ms", "this MiB", "other MiB", "failures"],
    ],
    rows,
  );
  return failures;
}

async function benchCommands(
  commands: typeof COMMANDS,
  { other, folder, rounds, events }: Options,
): Promise<void> {
  const files: CommandFiles[] = [];
  for (const checkout of [{ root: ROOT }, other]) {
    const kvPath = `${folder}/commands-${files.length}.sqlite3`;
    await fillByCheckout(checkout.root, kvPath, events);
    const own = {
      ...checkout,
      kvPath,
      replayedPath: `${kvPath}.copy`,
      exportPath: `${kvPath}.jsonl`,
    };
    await Deno.copyFile(kvPath, own.replayedPath);
    await exportLog(own);
    files.push(own);
  }
  const rows: (string | number)[][] = [];
  for (const { name, run } of commands) {
    const samples = await inTurns(rounds, [() => run(files[0]), () => run(files[1])]);
    rows.push([
      name,
      ...ratio(samples.map(([one, two]) => [events / one.seconds, events / two.seconds])),
      ...ratio(samples.map(([one, two]) => [one.cpuMs / events, two.cpuMs / events]), true),
      ...ratio(samples.map(([one, two]) => [one.peakMiB, two.peakMiB]), true).slice(0, 3),
    ]);
  }
  printTable(
    `Commands on ${events} events (rounds: ${rounds}), including the start of the process`,
    [
      ...["", "this/s", "other/s", "ratio", "lowest", "highest"],
      ...["this cpu ms", "other cpu ms", "ratio", "lowest", "highest"],
      ...["this peak MiB", "other peak MiB", "ratio"],
    ],
    rows,
  );
  const sizes = files.map(({ kvPath }) => Deno.statSync(kvPath).size / 1024 ** 2);
  console.log(`\n  SQLite file: this ${format(sizes[0])} MiB, other ${format(sizes[1])} MiB`);
}

/** Runs two measurements in the order ABBA, so that other load on the machine affects both. */
async function inTurns<T>(rounds: number, [own, other]: Pair<() => Promise<T>>) {
  const pairs: Pair<T>[] = [];
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) {
      pairs.push([await own(), await other()]);
    } else {
      const second = await other();
      pairs.push([await own(), second]);
    }
  }
  return pairs;
}

/** The medians, their ratio, and the lowest and the highest ratio of a round. */
function ratio(rounds: Pair<number>[], isCost = false): number[] {
  const medians: Pair<number> = [
    median(rounds.map(([own]) => own)),
    median(rounds.map(([, other]) => other)),
  ];
  const ratioOf = ([own, other]: Pair<number>) => isCost ? other / own : own / other;
  const ratios = rounds.map(ratioOf);
  return [...medians, ratioOf(medians), Math.min(...ratios), Math.max(...ratios)];
}

function median(numbers: number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
}

/** Prints rows of a name and numbers in columns. */
function printTable(title: string, header: string[], rows: (string | number)[][]): void {
  const cells = [header, ...rows.map((row) => row.map(format))];
  const widths = header.map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  console.log(`\n${title}\n`);
  for (const [name, ...numbers] of cells) {
    const aligned = numbers.map((cell, column) => cell.padStart(widths[column + 1]));
    console.log(`  ${[name.padEnd(widths[0]), ...aligned].join("  ")}`);
  }
}

function format(cell: string | number): string {
  if (typeof cell === "string") return cell;
  if (Number.isNaN(cell)) return "-";
  if (cell >= 100 || cell === 0) return Math.round(cell).toLocaleString("en");
  return cell.toFixed(cell >= 10 ? 1 : 3);
}
