/**
 * Tests of the service on Node: `src/` as it is, on a file and on PostgreSQL. If Node cannot be installed, they are
 * ignored with one line.
 *
 *     deno task test:node
 */

import { assertEquals } from "@std/assert";
import { issueKey } from "../../src/keys/write_key.ts";
import { installNode, startOnNode } from "../support/node_service.ts";
import { POSTGRES, serverOfFile } from "../support/postgres_server.ts";
import { openRealStore, useRealStore } from "../support/real_store.ts";
import { TempStore } from "../support/temp_store.ts";
import { OTHER_SERVICES } from "../support/test_each_way.ts";
import { install } from "../support/third_party_tools.ts";

const server = serverOfFile();

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

if (await install("Node", installNode)) {
  for (const [name, open] of Object.entries(STORES)) {
    OTHER_SERVICES[`Node, ${name}`] = async () => {
      const { store, token, [Symbol.asyncDispose]: removeStore } = await open();
      const service = await startOnNode(store);
      const opened = await openRealStore(store);
      const client = service.client(token);
      const close = async () => {
        opened.close();
        assertEquals(await service.stop(), 0, service.lines.join("\n"));
        await removeStore();
      };
      return { ...client, store: opened, token, [Symbol.asyncDispose]: close };
    };
  }
  await import("../http/interface_test.ts");
}
