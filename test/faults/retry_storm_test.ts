import { assertGreater } from "@std/assert";
import { permitted } from "../support/permitted.ts";
import { retryStorm } from "./retry_storm.ts";

Deno.test({
  name: "clients of little patience get one pet a key, through time-outs, doubles and a kill",
  ignore: !permitted("run", "net", "read", "write", "env"),
  async fn() {
    const outcomes = await retryStorm({ creates: 300, kills: 1, instances: 1 });
    // What was created and never heard of is known by its replays.
    assertGreater(outcomes["timed out"] ?? 0, 0);
    assertGreater(outcomes.replayed ?? 0, 0);
  },
});
