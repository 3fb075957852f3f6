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
import { WAYS } from "../support/test_each_way.ts";
import { install } from "../support/third_party_tools.ts";

const server = serverOfFile();

/** Makes an empty store, and names it by a path or the URL of a database. */
type MakeStore = (stack: AsyncDisposableStack) => Promise<string>;

const NODE = await install("Node", installNode);

const makeFile: MakeStore = async (stack) => stack.use(await TempStore.make()).kvPath;
const makeDatabase: MakeStore = async () => server().url(await server().createDatabase());

WAYS.splice(
  0,
  WAYS.length,
  { suffix: " (Node, a file)", needs: [NODE], open: () => openOnNode(makeFile) },
  {
    suffix: " (Node, PostgreSQL)",
    needs: [NODE, POSTGRES.need],
    open: () => openOnNode(makeDatabase),
  },
);
await import("../http/interface_test.ts");

async function openOnNode(makeStore: MakeStore) {
  const stack = new AsyncDisposableStack();
  const path = await makeStore(stack);
  const { token } = await useRealStore(path, (service) => issueKey(service, { label: "test" }));
  const service = await startOnNode(path);
  const store = await openRealStore(path);
  const close = async () => {
    store.close();
    assertEquals(await service.stop(), 0, service.lines.join("\n"));
    await stack.disposeAsync();
  };
  return { ...service.client(token), store, token, [Symbol.asyncDispose]: close };
}
