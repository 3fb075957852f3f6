import { PostgresStore } from "../../src/store/postgres/postgres_store.ts";
import { parseDatabaseUrl } from "../../src/store/postgres/database_url.ts";
import { systemRuntime } from "../../src/runtime/system_runtime.ts";
import { POSTGRES, PostgresServer } from "../support/postgres_server.ts";
import { testStoreContract } from "../support/store_contract.ts";

const { ignore } = POSTGRES;

let server: PostgresServer;
if (!ignore) {
  Deno.test.beforeAll(async () => void (server = await PostgresServer.start()));
  Deno.test.afterAll(() => server[Symbol.asyncDispose]());
}

for (const strictReads of [false, true]) {
  testStoreContract({
    name: `PostgresStore${strictReads ? " with strict reads" : ""}`,
    ignore,
    async open() {
      const settings = {
        ...parseDatabaseUrl(server.url(await server.createDatabase())),
        passfile: undefined,
        strictReads,
      };
      const options = { create: true, onCreated: () => {} };
      const signal = AbortSignal.timeout(5_000);
      return { store: await PostgresStore.open(settings, systemRuntime, options, signal) };
    },
  });
}
