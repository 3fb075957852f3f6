import { POSTGRES, serverOfFile } from "../support/postgres_server.ts";
import { testNeeding } from "../support/test_needing.ts";
import { runWithoutAnimals, withoutAnimals } from "../support/without_animals.ts";

const server = serverOfFile();

testNeeding(POSTGRES.need)("the engine works without animals, on databases", async () => {
  const databases = [await server().createDatabase(), await server().createDatabase()];
  const urls = databases.map((database) => server().url(database));
  await withoutAnimals((project) => runWithoutAnimals(project, urls));
});
