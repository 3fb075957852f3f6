/** Runs one process of the service. Settings come from the environment; see `config.ts`. */

import { locateStore } from "eventstore-less/startup";
import { callCommandsBy } from "./runtime/words.ts";
import { databaseUrl, readCaller, readServiceConfig } from "./settings/config.ts";
import { runProgram } from "./life_cycle/run_program.ts";
import { serve } from "./life_cycle/serve.ts";

callCommandsBy(readCaller(), databaseUrl());
await runProgram(async () => {
  const config = readServiceConfig();
  await serve({ ...config, store: locateStore(config.store) });
  return 0;
});
