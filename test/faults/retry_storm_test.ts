import { assertGreater } from "@std/assert";
import { permitted } from "../support/permitted.ts";
import { retryStorm } from "./retry_storm.ts";

Deno.test({
  name: "createPet adds one pet per Idempotency-Key despite timeouts, doubled requests and a kill",
  ignore: !permitted("run", "net", "read", "write", "env"),
  async fn() {
    const outcomes = await retryStorm({ creates: 300, kills: 1, instances: 1 });
    // A repeated response shows that a client gave up on a request that had added its pet.
    assertGreater(outcomes["gave up"] ?? 0, 0);
    assertGreater(outcomes.repeated ?? 0, 0);
  },
});
