/**
 * Compares the service with a bare Deno.serve and raw KV, on loopback, and prints the ratios of one run.
 *
 *     deno task bench [--quick] [--only PART,…] [--soak MINUTES] [--json FILE]
 *     deno task bench --against DIR [--rounds N] [--seconds S] [--events N] [--only TEXT]
 */

import { EXIT, runCommand, UsageError } from "../../scripts/cli/run_command.ts";
import { fillStore } from "../support/fill_store.ts";
import { benchAgainst } from "./against_bench.ts";
import { benchGrowth } from "./growth_bench.ts";
import { benchHttp, type HttpRow } from "./http_bench.ts";
import { benchLoads, benchSoak } from "./load_bench.ts";
import { benchPolling } from "./polling_bench.ts";
import { benchRaw } from "./raw_bench.ts";
import { ROOT, startService } from "./server_process.ts";
import { sum } from "./sum.ts";
import { benchTools } from "./tools_bench.ts";
import { benchWriters } from "./writers_bench.ts";

const PARTS = ["http", "raw", "loads", "writers", "polling", "tools", "growth"];

const BENCH = {
  title:
    "Compares the service with a bare Deno.serve and raw KV, on loopback, in a temporary folder",
  details: `Takes about six minutes, a minute with --quick. With --against, measures this checkout
    and another one instead, in turns, prints ratios, and takes ten minutes.`,
  usage: [
    "deno task bench [--quick] [--only PARTS] [--soak MINUTES] [--json FILE]",
    "deno task bench --against DIR [--rounds N] [--seconds S] [--events N] [--only TEXT]",
  ],
  flags: {
    "--quick": "shorter, and growth to 100,000 pets instead of 1,000,000",
    "--only PARTS":
      "of http, raw, loads, writers, polling, tools, growth, separated by commas; with " +
      "--against, only workloads with this text in their names, for example create or replay",
    "--soak MINUTES": "mixed load for so long as well, with the memory of the service",
    "--json FILE": "writes what was measured there, too",
    "--against DIR": "the folder of the other checkout, such as git worktree add DIR COMMIT makes",
    "--rounds N": "measures each workload N times on each checkout (default: 5)",
    "--seconds S": "how long each measurement of requests takes (default: 4)",
    "--events N": "number of events for replay, restore, audit and export (default: 300000)",
  },
  exits: "0 done, 1 a response was not 2xx, 2 could not run",
} as const;

await runCommand(BENCH, {
  async run({ quick = false, only, soak = "0", json, against, rounds, seconds, events }) {
    if (against !== undefined) {
      if (quick || soak !== "0" || json !== undefined) {
        throw new UsageError("--quick, --soak and --json cannot be used with --against");
      }
      const failures = await benchAgainst({
        against,
        rounds: parseCount("--rounds", rounds ?? "5"),
        ms: parseCount("--seconds", seconds ?? "4") * 1_000,
        events: parseCount("--events", events ?? "300000"),
        only: only ?? "",
      });
      return failures === 0 ? EXIT.done : EXIT.refused;
    }
    if ([rounds, seconds, events].some((flag) => flag !== undefined)) {
      throw new UsageError("--rounds, --seconds and --events need --against");
    }
    const parts = only?.split(",") ?? PARTS;
    const unknown = parts.find((part) => !PARTS.includes(part));
    if (unknown !== undefined) throw new UsageError(`--only takes parts of ${PARTS.join(", ")}`);
    if (!/^\d{1,3}$/.test(soak)) throw new UsageError("--soak takes a number of minutes");

    const folder = await Deno.makeTempDir({ prefix: "animal-store-bench-" });
    const ms = quick ? 1_000 : 4_000;
    const results: Record<string, unknown> = {};
    let http: HttpRow[] = [];
    let failures = 0;
    try {
      const path = `${folder}/pets.sqlite3`;
      const token = await fillStore(path, 10_000);
      const service = await startService(path);
      try {
        if (parts.includes("http")) results.http = http = await benchHttp(service, token, ms);
        failures += sum(http.flatMap(({ service, bare }) => [service.failures, bare.failures]));
        if (parts.includes("loads")) results.loads = await benchLoads(service, token, ms);
        if (parts.includes("polling")) {
          const polling = await benchPolling(service, token, 5 * ms);
          results.polling = polling;
          failures += polling.failures;
        }
        if (soak !== "0") results.soak = await benchSoak(service, token, Number(soak));
      } finally {
        await service.stop();
      }
      if (parts.includes("writers")) {
        const writers = await benchWriters(folder, [ROOT], { rounds: 3, ms });
        results.writers = writers.rows;
        failures += writers.failures;
      }
      if (parts.includes("raw")) results.raw = await benchRaw(folder, http);
      if (parts.includes("tools")) {
        results.tools = await benchTools(folder, quick ? 50_000 : 300_000);
      }
      if (parts.includes("growth")) {
        const sizes = quick ? [10_000, 100_000] : [10_000, 100_000, 1_000_000];
        const growth = await benchGrowth(folder, sizes, ms);
        results.growth = growth;
        failures += sum(growth.rows.flatMap(({ costs }) => costs.map(({ failures }) => failures)));
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
