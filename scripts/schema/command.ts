import { APPLICATION } from "../../src/application.ts";
import { createSchema, grantTo } from "eventstore-less/store";
import { UsageError } from "../cli/table_entry.ts";
import { operatorCommand, print } from "../cli/run_command.ts";

interface Flags {
  role?: string;
}

export const command = operatorCommand<Flags>({
  async run({ role }) {
    if (role === "") throw new UsageError("--role takes the name of a role");
    const program = APPLICATION.dashedName;
    await print(createSchema({ program }) + (role === undefined ? "" : grantTo({ program }, role)));
  },
});
