/**
 * Measures 1, 2 and 4 instances on one SQLite file, on one denokv and on one PostgreSQL server, and the number of events per commit, in
 * one run on loopback. Only the ratios are meaningful, because everything shares one machine.
 *
 *     deno task bench:scaling [--quick]
 */

import { EXIT, runCommand, UsageError } from "../../scripts/cli/run_command.ts";
import { issueKey } from "../../src/commands/issue_key.ts";
import { createService } from "../../src/service.ts";
import type { Store } from "../../src/store/store.ts";
import { systemRuntime } from "../../src/runtime/system_runtime.ts";
import { DenokvServer } from "../support/denokv_server.ts";
import { installDenokv } from "../support/install_denokv.ts";
import { findPostgres, PostgresServer } from "../support/postgres_server.ts";
import { openRealStore } from "../support/real_store.ts";
import { OPERATOR } from "../../events/event.ts";
import { addPetCommand } from "../support/add_pet_command.ts";
import { countCommits } from "../support/count_commits.ts";
import { examplePet } from "../support/fill_store.ts";
import { measure, type Operation } from "./http_bench.ts";
import { startService } from "./server_process.ts";
import { printTable, sum } from "./table.ts";

const SCALING = {
  title:
    "Measures 1, 2 and 4 instances on one SQLite file, on one denokv and on one PostgreSQL server",
  details: "First builds denokv with cargo. Leaves out what is not installed.",
  usage: ["deno task bench:scaling [--quick] [--only NAME]"],
  flags: {
    "--quick": "a second instead of five for each number",
    "--only NAME…": "measures only file, denokv or postgresql; can be repeated",
  },
  exits: "0 done, 2 could not run",
} as const;

const INSTANCES = [1, 2, 4];

/** Of all instances together. */
const CONNECTIONS = 64;

const NEW_PET = '{"name":"Rex the dog","categoryId":12,"status":"available"}';

const OPERATIONS: Omit<Operation, "connections">[] = [
  { name: "create", method: "POST", path: "/v1/pets", body: NEW_PET },
  { name: "list, 20", method: "GET", path: "/v1/pets" },
  { name: "read by id", method: "GET", path: "/v1/pets/1" },
];

/** Numbers of additions that wait for a commit at any time. */
const WAITING = [1, 16, 64, 256, 1_024];

/** Opens a store for the time of the measurement, and resolves to its name for programs. */
const STORES: Record<string, (stack: AsyncDisposableStack) => Promise<string | undefined>> = {
  async file(stack) {
    const folder = await Deno.makeTempDir({ prefix: "animal-store-scaling-" });
    stack.defer(() => Deno.remove(folder, { recursive: true }));
    return `${folder}/pets.sqlite3`;
  },
  async denokv(stack) {
    if (!await installDenokv()) return undefined;
    const server = stack.use(await DenokvServer.start());
    Deno.env.set("DENO_KV_ACCESS_TOKEN", server.token);
    return server.address;
  },
  async postgresql(stack) {
    if (findPostgres() === undefined) return undefined;
    // Each commit waits for the disk, as on the other stores.
    const server = stack.use(await PostgresServer.start({ fsync: "on" }));
    return server.url(await server.createDatabase());
  },
};

await runCommand(SCALING, {
  async run({ quick = false, only = Object.keys(STORES) }) {
    const ms = quick ? 1_000 : 5_000;
    await using stack = new AsyncDisposableStack();
    const stores: NamedStore[] = [];
    for (const name of only) {
      const open = STORES[name];
      if (open === undefined) {
        throw new UsageError(`--only takes ${Object.keys(STORES).join(", ")}`);
      }
      const path = await open(stack);
      if (path === undefined) console.error(`Left out ${name}: it is not installed`);
      else stores.push({ name, path });
    }
    await benchInstances(stores, ms);
    await benchCommits(stores, ms);
    return EXIT.done;
  },
});

interface NamedStore {
  name: string;
  path: string;
}

async function benchInstances(stores: NamedStore[], ms: number): Promise<void> {
  const rows: (string | number)[][] = [];
  for (const { name, path } of stores) {
    const token = await withStore(path, async (store) => {
      const service = createService({ store, runtime: systemRuntime, report: () => {} });
      return (await issueKey(service, { label: "bench" })).token;
    });
    for (const instances of INSTANCES) {
      const servers = await Promise.all(
        Array.from({ length: instances }, () => startService(path)),
      );
      try {
        for (const operation of OPERATIONS) {
          const connections = CONNECTIONS / instances;
          const measured = await Promise.all(
            servers.map((server) => measure(server, token, { ...operation, connections }, ms)),
          );
          const perSecond = measured.map((one) => one.perSecond);
          rows.push([
            operation.name,
            name,
            instances,
            sum(perSecond),
            Math.min(...perSecond) / Math.max(...perSecond),
            Math.max(...measured.map(({ p50Ms }) => p50Ms)),
            Math.max(...measured.map(({ p99Ms }) => p99Ms)),
            sum(measured.map(({ failures }) => failures)),
          ]);
        }
      } finally {
        for (const server of servers) await server.stop();
      }
    }
  }
  const order = OPERATIONS.map(({ name }) => name);
  rows.sort((one, other) => order.indexOf(one[0] as string) - order.indexOf(other[0] as string));
  printTable(
    `Answers a second, all instances together, at ${CONNECTIONS} connections`,
    ["", "store", "instances", "all/s", "least/most", "p50 ms", "p99 ms", "failures"],
    rows,
  );
}

/** The capacity of the single head record: commits per second and events per commit. */
async function benchCommits(stores: NamedStore[], ms: number): Promise<void> {
  const rows: (string | number)[][] = [];
  for (const { name, path } of stores) {
    for (const waiting of WAITING) {
      await withStore(path, async (store) => {
        const { commits, events, seconds } = await appendAll(store, waiting, ms);
        const perSecond = commits / seconds;
        rows.push([name, waiting, perSecond, events / commits, events / seconds]);
      });
    }
  }
  printTable(
    "Commits of one instance, by how many additions wait",
    ["store", "waiting", "commits/s", "events/commit", "events/s"],
    rows,
  );
}

async function appendAll(store: Store, waiting: number, ms: number) {
  const runtime = systemRuntime;
  const { appender, heads } = createService({ store, runtime, report: () => {} });
  const { position } = (await heads.fresh()).head;
  const started = performance.now();
  let events = 0;
  await Promise.all(Array.from({ length: waiting }, async () => {
    while (performance.now() - started < ms) {
      const appended = await appender.append(addPetCommand(runtime, OPERATOR, examplePet(0)));
      events += appended.length;
    }
  }));
  const seconds = (performance.now() - started) / 1_000;
  return { commits: await countCommits(store, position + 1), events, seconds };
}

async function withStore<T>(path: string, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openRealStore(path);
  try {
    return await use(store);
  } finally {
    store.close();
  }
}
