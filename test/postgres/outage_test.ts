import { POSTGRES } from "../support/postgres_server.ts";
import { testOutages } from "../support/test_outages.ts";

testOutages(POSTGRES, ({ address, port }) => ({
  address: address.replace(/operator:[^@]+/, "operator:wrong"),
  env: {},
  message: `Cannot open the database pets_1 on 127.0.0.1:${port} (DATABASE_URL): ` +
    `127.0.0.1:${port}: it refuses the password of the role operator`,
}));
