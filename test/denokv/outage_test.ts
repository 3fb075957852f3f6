import { DENOKV } from "../support/denokv_server.ts";
import { testOutages } from "../support/test_outages.ts";

testOutages(DENOKV, ({ address }) => ({
  address,
  env: { DENO_KV_ACCESS_TOKEN: "some-other-token" },
  message: `Cannot open the store ${address} (KV_PATH): ` +
    "it refuses the access token (DENO_KV_ACCESS_TOKEN)",
}));
