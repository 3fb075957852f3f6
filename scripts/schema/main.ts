import { CREATE_SCHEMA, grantTo } from "eventstore-less/store/open";
import { print, runCommand, UsageError } from "../cli/run_command.ts";
import { COMMANDS } from "../cli/commands.ts";

await runCommand(COMMANDS.schema, {
  async run({ role }) {
    if (role === "") throw new UsageError("--role takes the name of a role");
    await print(CREATE_SCHEMA + (role === undefined ? "" : grantTo(role)));
  },
});
