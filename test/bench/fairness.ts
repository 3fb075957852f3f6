/**
 * Measures how instances share one store: additions and changes by two and four processes of the service, with as many
 * or with different numbers of clients. PostgreSQL is left out if it is not installed.
 *
 *     deno run --allow-all test/bench/fairness.ts [--against DIR] [--only TEXT] [--rounds N] [--seconds S]
 */

import { pathToFileURL } from "node:url";
import { EXIT, runCommand } from "../../scripts/cli/run_command.ts";
import { PostgresServer } from "../support/postgres_server.ts";
import { type Measured, requestBytes, runLoad } from "./load.ts";
import { fillByCheckout, ROOT, startService } from "./processes.ts";

const FAIRNESS = {
  title: "Measures how two and four instances of the service share one store",
  details:
    `Each client adds or changes one animal after the other. Prints for each instance how many animals
    and the slowest hundredth, for all the rate and the number of failures. The share of an instance is
    what it had written if all clients had written as many; "least share" is the part of that which the
    instance with the smallest part got.`,
  usage: [
    "deno run --allow-all test/bench/fairness.ts [--against DIR] [--only TEXT] [--rounds N] [--seconds S]",
  ],
  flags: {
    "--against DIR": "also measures the checkout in this folder, which has the same programs",
    "--only TEXT":
      "only what has this text in its name: an engine, additions or changes, the clients",
    "--rounds N": "how often each is measured (default: 1)",
    "--seconds S": "how long each is measured (default: 5)",
  },
  variables: [],
  exits: "0 done, 2 could not run",
} as const;

const PETS = 1_000;

/** The clients of each instance. */
const CASES = [[16, 16], [64, 1], [1, 1], [1], [64], [16, 16, 16, 16], [64, 1, 1, 1], [1, 1, 1, 1]];

/** A store that several processes can use, and the environment that names it. */
interface SharedStore extends AsyncDisposable {
  url: string;
  env: Record<string, string>;
}

const ENGINES: Record<string, () => Promise<SharedStore>> = {
  file: openFile,
  postgres: openPostgres,
};

/** The next request of a client. */
const WRITES: Record<string, (headers: Record<string, string>) => () => Uint8Array> = {
  additions(headers) {
    const body = '{"name":"Rex the dog","categoryId":12,"status":"available"}';
    const all = { ...headers, "content-type": "application/json" };
    const bytes = requestBytes({ method: "POST", path: "/v1/pets", headers: all, body });
    return () => bytes;
  },
  changes(headers) {
    let count = 0;
    const all = { ...headers, "content-type": "application/merge-patch+json" };
    return () => {
      const path = `/v1/pets/${1 + Math.floor(Math.random() * PETS)}`;
      const body = `{"name":"Rex the ${++count}th"}`;
      return requestBytes({ method: "PATCH", path, headers: all, body });
    };
  },
};

await runCommand(FAIRNESS, {
  async run({ against, only = "", rounds = "1", seconds = "5" }) {
    const checkouts = against === undefined ? [] : [pathToFileURL(`${against}/`)];
    const names = Object.keys(ENGINES).flatMap((engine) => {
      return Object.keys(WRITES).flatMap((write) => {
        return CASES.map((clients) => `${engine} ${write} ${clients.join("+")} `);
      });
    }).filter((name) => name.includes(only));
    for (let round = 0; round < Number(rounds); round++) {
      for (const name of names) {
        for (const root of [...checkouts, ROOT]) {
          const text = await measure(root, name, Number(seconds) * 1_000);
          console.log(`${name.padEnd(26)} ${text}  ${root.pathname}`);
        }
      }
    }
    return EXIT.done;
  },
});

async function measure(root: URL, name: string, ms: number): Promise<string> {
  const [engine, write, loads] = name.split(" ");
  const clients = loads.split("+").map(Number);
  await using store = await ENGINES[engine]();
  const token = await fillByCheckout(root, store.url, PETS);
  const next = WRITES[write]({ authorization: `Bearer ${token}` });
  await using services = new AsyncDisposableStack();
  const ports: number[] = [];
  for (const _ of clients) {
    const path = store.env.DATABASE_URL === undefined ? store.url : "";
    ports.push(services.use(await startService(path, { root }, store.env)).port);
  }
  const run = (ms: number) =>
    Promise.all(
      ports.map((port, index) => runLoad({ port, connections: clients[index], ms, next })),
    );
  await run(500);
  return textOf(clients, await run(ms));
}

function textOf(clients: readonly number[], measured: readonly Measured[]): string {
  const sum = (numbers: readonly number[]) => numbers.reduce((one, other) => one + other, 0);
  const perClient = sum(measured.map(({ requests }) => requests)) / sum(clients);
  const shares = measured.map(({ requests }, index) => requests / clients[index] / perClient);
  const counts = measured.map(({ requests }) => requests).join(" + ");
  const rate = sum(measured.map(({ perSecond }) => perSecond)).toFixed(0);
  const p99s = measured.map(({ p99Ms }) => p99Ms.toFixed(0)).join(", ");
  const failures = sum(measured.map(({ failures }) => failures));
  return `${counts} (${rate}/s), least share ${Math.min(...shares).toFixed(2)}, ` +
    `p99 ${p99s} ms, ${failures} failures`;
}

async function openFile(): Promise<SharedStore> {
  const folder = await Deno.makeTempDir();
  return {
    url: `${folder}/store.db`,
    env: {},
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

async function openPostgres(): Promise<SharedStore> {
  const server = await PostgresServer.start();
  const url = server.url(await server.createDatabase());
  return {
    url,
    env: { DATABASE_URL: url },
    [Symbol.asyncDispose]: async () => await server[Symbol.asyncDispose](),
  };
}
