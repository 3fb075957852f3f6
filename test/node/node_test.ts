/**
 * Tests of the service on Node: `src/` as it is, on a file and on PostgreSQL. If Node cannot be installed, they are
 * ignored with one line.
 *
 *     deno task test:node
 */

import { assert, assertEquals } from "@std/assert";
import { issueKey } from "../../src/commands/issue_key.ts";
import config from "../../deno.json" with { type: "json" };
import { LoadClient } from "../support/load_client.ts";
import { POSTGRES, serverOfFile } from "../support/postgres_server.ts";
import { openRealStore, useRealStore } from "../support/real_store.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { until } from "../support/store_server.ts";
import { TempStore } from "../support/temp_store.ts";
import { OTHER_SERVICES } from "../support/test_each_way.ts";
import { clientOf } from "../support/test_service.ts";
import { expectDone, install } from "../support/third_party_tools.ts";

/** What the service needs on Node. The packages that deno.json names are added, at its versions. */
const PACKAGES = ["node@24.21.0", "srvx@1.0.8"];

/** Acknowledged additions between two kills. */
const ADDED = 200;

const folder = await Deno.makeTempDir();
const remove = () => Deno.remove(folder, { recursive: true });
Deno.test.afterAll(remove);
const server = serverOfFile();

const isInstalled = await install("Node", async () => {
  const specifiers = Object.values(config.imports).map((it) => /@?[^@:]+@[\d.]+/.exec(it)![0]);
  const packages = [...PACKAGES, ...specifiers.map((it) => it.replace(/^\//, ""))];
  // The package of Node installs its program by a script.
  const flags = ["--no-audit", "--no-fund", "--prefer-offline", "--prefix", folder];
  await expectDone("npm", ["install", ...flags, ...new Set(packages)], { cwd: folder });
});

/** Opens an empty store that Deno made, as a path or the URL of a database, with a key. */
const STORES: Record<string, () => Promise<{ store: string; token: string } & AsyncDisposable>> = {
  "a file": async () => {
    const temp = await TempStore.make();
    return {
      ...await withKey(temp.kvPath),
      [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
    };
  },
};
if (!POSTGRES.ignore) {
  STORES.PostgreSQL = async () => {
    const database = await server().createDatabase();
    return { ...await withKey(server().url(database)), async [Symbol.asyncDispose]() {} };
  };
}

async function withKey(store: string) {
  const { token } = await useRealStore(store, (service) => issueKey(service, { label: "test" }));
  return { store, token };
}

const startOnDeno = (store: string) => ServiceProcess.start(store);

function startOnNode(store: string): Promise<ServiceProcess> {
  const node = `${folder}/node_modules/.bin/node`;
  const runtime = [node, "--import", "./test/node/deno_on_node.ts"];
  return ServiceProcess.start(store, { PACKAGES: folder }, [], runtime);
}

if (!isInstalled) await remove();
else {
  for (const [name, open] of Object.entries(STORES)) {
    OTHER_SERVICES[`Node, ${name}`] = async () => {
      const { store, token, [Symbol.asyncDispose]: removeStore } = await open();
      const service = await startOnNode(store);
      const opened = await openRealStore(store);
      const client = clientOf(token, (path, init) => fetch(`${service.address}${path}`, init));
      const close = async () => {
        opened.close();
        assertEquals(await service.stop(), 0, service.lines.join("\n"));
        await removeStore();
      };
      return { ...client, store: opened, token, [Symbol.asyncDispose]: close };
    };

    Deno.test(`Deno and Node use ${name} in turn, each until kill -9 under load, and nothing is lost`, async () => {
      await using opened = await open();
      const { store, token } = opened;
      const services = [await startOnDeno(store)];
      const load = new LoadClient({
        services: () => services,
        token,
        connections: 16,
        faults: "process",
        reads: true,
        changes: true,
      });
      let isOver = false;
      const running = load.run(() => isOver);
      try {
        for (const start of [startOnNode, startOnDeno, startOnNode, startOnDeno]) {
          const wanted = load.acknowledged.size + ADDED;
          await until(() => assert(load.acknowledged.size >= wanted), "Too few pets are added");
          await services[0].stop("SIGKILL");
          services[0] = await start(store);
          await load.expectFresh(services[0]);
          // Includes an audit.
          await useRealStore(store, (service) => load.expectChanges(service));
        }
        isOver = true;
        await running;
        await load.expectServed(services[0]);
        await useRealStore(store, (service) => load.expectLogged(service));
      } finally {
        isOver = true;
        await services[0].stop();
      }
    });
  }
  await import("../http/interface_test.ts");
}
