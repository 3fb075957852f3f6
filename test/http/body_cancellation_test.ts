import { assertEquals } from "@std/assert";
import { BodyCancellation } from "../../src/http/body_cancellation.ts";

Deno.test("make() tells all who wait, those who stopped not, and who comes later at once", () => {
  const cut = new BodyCancellation();
  const told: string[] = [];
  cut.wait(() => told.push("first"));
  const stop = cut.wait(() => told.push("stopped"));
  stop();
  cut.cancel();
  cut.wait(() => told.push("later"));
  cut.cancel();
  assertEquals(told, ["first", "later"]);
});
