/**
 * Compares the service with a bare Deno.serve and raw KV, on loopback, and prints the ratios of one run.
 *
 *     deno task bench [--quick] [--only PART,…] [--soak MINUTES] [--json FILE]
 */

import { EXIT, runTool, UsageError } from "../../scripts/cli/run_tool.ts";
import { fillStore } from "../support/fill_store.ts";
import { benchGrowth } from "./growth_bench.ts";
import { benchHttp, type HttpRow } from "./http_bench.ts";
import { benchLoads, benchSoak } from "./load_bench.ts";
import { benchRaw } from "./raw_bench.ts";
import { startService } from "./server_process.ts";
import { sum } from "./sum.ts";
import { benchTools } from "./tools_bench.ts";

const PARTS = ["http", "raw", "loads", "tools", "growth"];

const HELP = `
Compares the service with a bare Deno.serve and raw KV, on loopback, in a temporary folder.

  deno task bench [--quick] [--only PART,…] [--soak MINUTES] [--json FILE]

  --quick          shorter, and growth to 100,000 pets instead of 1,000,000
  --only PART,…    of ${PARTS.join(", ")}
  --soak MINUTES   mixed load for so long as well, with the memory of the service
  --json FILE      writes what was measured there, too

Takes about six minutes, a minute with --quick. Exit codes: 0 done, 1 an answer was no 2xx, 2 could not run.
`;

await runTool({
  help: HELP,
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    soak: { type: "string", default: "0" },
    json: { type: "string" },
  },
  async run({ quick, only, soak, json }) {
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
        if (soak !== "0") results.soak = await benchSoak(service, token, Number(soak));
      } finally {
        await service.stop();
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
