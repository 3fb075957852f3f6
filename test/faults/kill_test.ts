import { assert } from "@std/assert";
import { permitted } from "../support/permitted.ts";
import { killRounds } from "./kill_rounds.ts";

Deno.test({
  name: "What was acknowledged survives kill -9 of services and tools at any moment, once",
  ignore: !permitted("env", "net", "read", "run", "write"),
  async fn() {
    const { ledger } = await killRounds(4);
    assert(ledger.acknowledged.size > 0);
  },
});
