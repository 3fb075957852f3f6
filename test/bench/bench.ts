/**
 * Compares the service with a bare Deno.serve, on loopback, or this checkout with another one, and prints ratios.
 *
 *     deno task bench [--quick] [--pets N] [--only PART,…] [--json FILE]
 *     deno task bench --against DIR [--rounds N] [--seconds S] [--events N] [--only TEXT]
 */

import { EXIT, runCommand, UsageError } from "../../scripts/cli/run_command.ts";
import { fillStore } from "../support/fill_store.ts";
import { benchAgainst } from "./against_bench.ts";
import { benchHttp } from "./http_bench.ts";
import { benchLoads } from "./load_bench.ts";
import { ROOT, type ServerProcess, startService } from "./server_process.ts";
import { sum } from "./table.ts";
import { benchWriters } from "./writers_bench.ts";

/** A part of the measurement. Its rows have the failed requests. */
type Part = (service: ServerProcess, token: string, folder: string, ms: number) => Promise<{
  rows: unknown;
  failures: number;
}>;

const PARTS: Record<string, Part> = {
  async http(service, token, _folder, ms) {
    const rows = await benchHttp(service, token, ms);
    return { rows, failures: sum(rows.map(({ failures }) => failures)) };
  },
  // An overload may be refused.
  loads: async (service, token, _folder, ms) => ({
    rows: await benchLoads(service, token, ms),
    failures: 0,
  }),
  writers: (_service, _token, folder, ms) => benchWriters(folder, [ROOT], { rounds: 3, ms }),
};

const BENCH = {
  title: "Compares the service with a bare Deno.serve, on loopback, in a temporary folder",
  details: `Takes about three minutes, a minute with --quick. With --against, measures this checkout
    and another one instead, in turns, prints ratios, and takes ten minutes.`,
  usage: [
    "deno task bench [--quick] [--pets N] [--only PARTS] [--json FILE]",
    "deno task bench --against DIR [--rounds N] [--seconds S] [--events N] [--only TEXT]",
  ],
  flags: {
    "--quick": "shorter",
    "--pets N": "number of pets in the store (default: 10000)",
    "--only PARTS":
      "of http, loads, writers, separated by commas; with --against, only workloads with this " +
      "text in their names, for example create or replay",
    "--json FILE": "writes what was measured there, too",
    "--against DIR": "the folder of the other checkout, such as git worktree add DIR COMMIT makes",
    "--rounds N": "measures each workload N times on each checkout (default: 5)",
    "--seconds S": "how long each measurement of requests takes (default: 4)",
    "--events N": "number of events for replay, restore, audit and export (default: 300000)",
  },
  exits: "0 done, 1 a response was an error, 2 could not run",
} as const;

await runCommand(BENCH, {
  async run({ quick = false, pets = "10000", only, json, against, ...more }) {
    if (against !== undefined) {
      const failures = await benchAgainst({
        against,
        rounds: parseCount("--rounds", more.rounds ?? "5"),
        ms: parseCount("--seconds", more.seconds ?? "4") * 1_000,
        events: parseCount("--events", more.events ?? "300000"),
        only: only ?? "",
      });
      return failures === 0 ? EXIT.done : EXIT.refused;
    }
    const names = only?.split(",") ?? Object.keys(PARTS);
    if (!names.every((name) => Object.hasOwn(PARTS, name))) {
      throw new UsageError(`--only takes parts of ${Object.keys(PARTS).join(", ")}`);
    }
    const folder = await Deno.makeTempDir({ prefix: "animal-store-bench-" });
    const results: Record<string, unknown> = {};
    let failures = 0;
    try {
      const path = `${folder}/pets.sqlite3`;
      const token = await fillStore(path, parseCount("--pets", pets));
      const service = await startService(path);
      try {
        for (const name of names) {
          const part = await PARTS[name](service, token, folder, quick ? 1_000 : 4_000);
          results[name] = part.rows;
          failures += part.failures;
        }
      } finally {
        await service.stop();
      }
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
    if (json !== undefined) await Deno.writeTextFile(json, JSON.stringify(results, null, 2) + "\n");
    return failures === 0 ? EXIT.done : EXIT.refused;
  },
});

function parseCount(flag: string, text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new UsageError(`${flag} takes a whole number, not ${JSON.stringify(text)}`);
}
