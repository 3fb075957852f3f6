import { assertGreater } from "@std/assert";
import { permitted } from "../support/permitted.ts";
import { killRounds } from "./kill_rounds.ts";

Deno.test({
  name:
    "acknowledged pets and changes are stored once after kill -9 of services and commands at random moments",
  ignore: !permitted("env", "net", "read", "run", "write"),
  async fn() {
    const { load } = await killRounds(6);
    assertGreater(load.acknowledged.size, 0);
    assertGreater(load.changes.size, 0);
  },
});
