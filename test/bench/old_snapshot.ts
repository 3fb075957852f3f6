/**
 * Measures additions and lists on PostgreSQL before, during and after a transaction with an old snapshot in the same
 * database, as a report or pg_dump has one. It needs an installed PostgreSQL.
 *
 *     deno run --allow-all test/bench/old_snapshot.ts [--against DIR] [--seconds S]
 */

import { pathToFileURL } from "node:url";
import { EXIT, runCommand } from "../../scripts/cli/run_command.ts";
import { holdSnapshot, PostgresServer } from "../support/postgres_server.ts";
import { requestBytes, runLoad } from "./load.ts";
import { cpuMs, fillByCheckout, ROOT, startService } from "./processes.ts";

const OLD_SNAPSHOT = {
  title: "Measures requests beside a transaction with an old snapshot in the same database",
  details:
    `Prints additions, lists and commits per second in parts of 5 seconds, and the processor time that
    the two processes of the server needed for a commit or a list, which a busy machine changes less.`,
  usage: [],
  examples: () => [
    "deno run --allow-all test/bench/old_snapshot.ts [--against DIR] [--seconds S]",
  ],
  flags: {
    "--against DIR": "also measures the checkout in this folder, which has the same programs",
    "--seconds S": "how long the transaction stays open (default: 25)",
  },
  variables: [],
  exits: "0 done, 2 could not run",
} as const;

const PETS = 10_000;
const PART_MS = 5_000;

/** Few enough that there are many commits, because additions that wait at the same time share one. */
const ADDING = 8;
const LISTING = 8;

await runCommand(OLD_SNAPSHOT, {
  async run({ against, seconds = "25" }) {
    const parts = Math.ceil(Number(seconds) * 1_000 / PART_MS);
    const checkouts = against === undefined ? [] : [pathToFileURL(`${against}/`)];
    for (const root of [...checkouts, ROOT]) await measure(root, parts);
    return EXIT.done;
  },
});

async function measure(root: URL, parts: number): Promise<void> {
  console.log(root.pathname);
  await using server = await PostgresServer.start();
  const database = await server.createDatabase();
  const url = server.url(database);
  const token = await fillByCheckout(root, url, PETS);
  await using service = await startService("", { root }, { DATABASE_URL: url });
  const load = { server, database, port: service.port, token };
  const measureParts = async (name: string, count: number) => {
    for (let part = 0; part < count; part++) console.log(name.padEnd(7), await measurePart(load));
  };
  await measurePart(load);
  await measureParts("before", 2);
  {
    await using _snapshot = await holdSnapshot(server, database);
    await measureParts("during", parts);
  }
  await measureParts("after", 2);
}

interface Load {
  server: PostgresServer;
  database: string;
  port: number;
  token: string;
}

async function measurePart({ server, database, port, token }: Load): Promise<string> {
  const pids = await server.sql(
    "select pid from pg_stat_activity where application_name = 'animal-store'",
  );
  const usedMs = () => pids.split("\n").reduce((sum, pid) => sum + cpuMs(Number(pid)), 0);
  const version = async () =>
    Number(await server.sql("select last_value from animal_store.versions", database));
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const body = '{"name":"Rex the dog","categoryId":12,"status":"available"}';
  const addition = requestBytes({ method: "POST", path: "/v1/pets", headers, body });
  const list = requestBytes({ method: "GET", path: "/v1/pets?limit=100", headers });
  const run = (connections: number, bytes: Uint8Array) =>
    runLoad({ port, connections, ms: PART_MS, next: () => bytes });
  const [usedBefore, versionBefore] = [usedMs(), await version()];
  const [additions, lists] = await Promise.all([run(ADDING, addition), run(LISTING, list)]);
  const commits = await version() - versionBefore;
  const usedUs = (usedMs() - usedBefore) * 1_000 / (commits + lists.requests);
  const commitsPerSecond = commits * 1_000 / PART_MS;
  const rates = [additions.perSecond, lists.perSecond, commitsPerSecond].map(Math.round);
  return `${rates[0]} additions/s, ${rates[1]} lists/s, ${rates[2]} commits/s; ` +
    `${usedUs.toFixed(0)} µs for each; ${additions.failures + lists.failures} failures`;
}
