/**
 * Measures this checkout and another one, or a bare Deno.serve, in turns, and prints ratios.
 *
 *     deno task bench [--against DIR] [--rounds N] [--seconds S] [--pets N] [--only TEXT]
 */

import { pathToFileURL } from "node:url";
import { EXIT, runCommand, UsageError } from "../../scripts/cli/run_command.ts";
import { fillByCheckout, ROOT, startBareServer, startService } from "./processes.ts";
import { quantile } from "./load.ts";
import { exampleResponse, measure, type Operation, OPERATIONS, slowDisk } from "./operations.ts";

const BENCH = {
  title: "Compares this checkout with another one, or with a bare Deno.serve, on loopback",
  details: "Measures each workload in turns, in a temporary folder, and prints ratios.",
  usage: [
    "deno task bench [--against DIR] [--rounds N] [--seconds S] [--pets N] [--only TEXT]",
  ],
  flags: {
    "--against DIR": `the folder of the other checkout, such as git worktree add DIR COMMIT makes
      (default: a bare Deno.serve that returns the same bytes)`,
    "--rounds N": "measures each workload N times on each (default: 5)",
    "--seconds S": "how long each measurement of requests takes (default: 4)",
    "--pets N": "number of pets in the store of the requests (default: 10000)",
    "--only TEXT": "only workloads with this text in their names, for example create",
  },
  variables: [],
  exits: "0 done, 1 a response was an error, 2 could not run",
} as const;

interface Options {
  /** The other checkout. */
  other: URL | undefined;
  folder: string;
  rounds: number;
  ms: number;
  pets: number;
}

/** A value of this checkout and of the other one. */
type Pair<T> = [own: T, other: T];

await runCommand(BENCH, {
  async run({ against, rounds = "5", seconds = "4", pets = "10000", only = "" }) {
    const isWanted = ({ name }: { name: string }) => name.includes(only);
    const operations = OPERATIONS.filter(isWanted);
    if (operations.length === 0) {
      const names = OPERATIONS.map(({ name }) => JSON.stringify(name));
      throw new UsageError(`--only takes a part of one of these names: ${names.join(", ")}`);
    }
    const folder = await Deno.makeTempDir({ prefix: "animal-store-bench-" });
    try {
      const failures = await benchRequests(operations, {
        other: against === undefined ? undefined : pathToFileURL(`${against}/`),
        folder,
        rounds: parseCount("--rounds", rounds),
        ms: parseCount("--seconds", seconds) * 1_000,
        pets: parseCount("--pets", pets),
      });
      return failures === 0 ? EXIT.done : EXIT.refused;
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

function parseCount(flag: string, text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new UsageError(`${flag} takes a whole number, not ${JSON.stringify(text)}`);
}

/** Resolves to the number of failed requests. */
async function benchRequests(operations: Operation[], options: Options): Promise<number> {
  const { other, folder, rounds, ms, pets } = options;
  const paths = [`${folder}/own.sqlite3`, `${folder}/other.sqlite3`];
  const token = await fillByCheckout(ROOT, paths[0], pets);
  const otherToken = other === undefined ? token : await fillByCheckout(other, paths[1], pets);
  const rows: Record<string, Record<string, string | number>> = {};
  let failures = 0;
  for (const operation of operations) {
    // Each workload gets new processes, so that an earlier one cannot affect it.
    await using stack = new AsyncDisposableStack();
    const env = await slowDisk(operation, folder);
    const own = stack.use(await startService(paths[0], ROOT, env));
    const rival = stack.use(
      other === undefined
        ? await startBareServer(await exampleResponse(own, token, operation))
        : await startService(paths[1], other, env),
    );
    const samples = await inTurns(rounds, [
      () => measure(own, token, operation, ms, pets),
      () => measure(rival, otherToken, operation, ms, pets),
    ]);
    const failed = samples.flat().reduce((sum, it) => sum + it.failures, 0);
    failures += failed;
    rows[operation.name] = {
      ...compared("/s", samples.map(([one, two]) => [one.perSecond, two.perSecond])),
      ...compared("cpu µs", samples.map(([one, two]) => [one.cpuUs, two.cpuUs]), true),
      "p50 ms": rounded(median(samples.map(([one]) => one.p50Ms))),
      "p99 ms": rounded(median(samples.map(([one]) => one.p99Ms))),
      failures: failed,
    };
  }
  console.log(`${pets} pets, ${rounds} rounds: a ratio > 1 means that this checkout needs less`);
  console.table(rows);
  return failures;
}

/** Runs two measurements in the order ABBA, so that other load on the machine affects both. */
async function inTurns<T>(rounds: number, [own, other]: Pair<() => Promise<T>>) {
  const pairs: Pair<T>[] = [];
  for (let round = 0; round < rounds; round++) {
    const second = round % 2 === 0 ? undefined : await other();
    pairs.push([await own(), second ?? await other()]);
  }
  return pairs;
}

/** The medians of both, their ratio, and the lowest and the highest ratio of a round. */
function compared(unit: string, rounds: Pair<number>[], isCost = false) {
  const ratioOf = ([own, other]: Pair<number>) => isCost ? other / own : own / other;
  const own = median(rounds.map(([own]) => own));
  const other = median(rounds.map(([, other]) => other));
  const ratios = [ratioOf([own, other]), ...rounds.map(ratioOf).sort((a, b) => a - b)];
  const [ratio, lowest, highest] = [ratios[0], ratios[1], ratios.at(-1)!].map(rounded);
  return {
    [`this ${unit}`]: rounded(own),
    [`other ${unit}`]: rounded(other),
    [`ratio of ${unit}`]: `${ratio} (${lowest} to ${highest})`,
  };
}

function rounded(number: number): number {
  return Number(number.toPrecision(3));
}

function median(numbers: number[]): number {
  const sorted = Float64Array.from(numbers).sort();
  return (quantile(sorted, 0.5) + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2;
}
