import { POSTGRES, serverOfFile } from "../support/postgres_server.ts";
import { runVisits } from "../support/run_visits.ts";
import { testNeeding } from "../support/test_needing.ts";

const test = testNeeding(POSTGRES.need);

const server = serverOfFile();

test("Another application: the engine works on databases", async () => {
  await runVisits(async () => server().url(await server().createDatabase()));
});
