import { newFile, processOn, testStories } from "../interface/target.ts";
import { startOnNode } from "../support/node_service.ts";
import { POSTGRES, serverOfFile } from "../support/postgres_server.ts";
import { BUILT_PROGRAM } from "../support/programs.ts";

const server = serverOfFile();

const newDatabase = async () => ({ name: server().url(await server().createDatabase()) });

testStories({
  name: "on Node, with a file",
  needs: [BUILT_PROGRAM],
  open: processOn(newFile, startOnNode),
});

testStories({
  name: "on Node, with PostgreSQL",
  needs: [BUILT_PROGRAM, POSTGRES.need],
  open: processOn(newDatabase, startOnNode),
});
