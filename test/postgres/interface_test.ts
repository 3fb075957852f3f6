import { processesOn, testStories } from "../interface/target.ts";
import { POSTGRES, serverOfFile } from "../support/postgres_server.ts";

const server = serverOfFile();

const newDatabase = async () => ({ name: server().url(await server().createDatabase()) });

testStories({
  name: "of two processes on one database of PostgreSQL",
  needs: [POSTGRES.need],
  open: processesOn(newDatabase, 2),
});
