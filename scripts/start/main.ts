/** `deno task start`: runs the service as one process. For several, the task runs `supervisor.ts` instead. */

import { endWithParent } from "../../src/life_cycle/parent.ts";
import { runService } from "../../src/main.ts";
import { COMMANDS } from "../cli/commands.ts";
import { exitWithHelp } from "../cli/help.ts";

exitWithHelp(COMMANDS.start);
endWithParent();
await runService();
