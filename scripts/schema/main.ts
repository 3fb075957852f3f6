import { APPLICATION } from "../../src/application.ts";
import { createSchema, grantTo } from "eventstore-less/store";
import { print, runCommand, UsageError } from "../cli/run_command.ts";
import { COMMANDS } from "../cli/commands.ts";

await runCommand(COMMANDS.schema, {
  async run({ role }) {
    if (role === "") throw new UsageError("--role takes the name of a role");
    const program = APPLICATION.dashedName;
    await print(createSchema({ program }) + (role === undefined ? "" : grantTo({ program }, role)));
  },
});
