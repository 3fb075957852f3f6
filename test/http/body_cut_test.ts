import { assertEquals } from "@std/assert";
import { BodyCut } from "../../src/http/body_cut.ts";

Deno.test("make() tells all who wait, those who stopped not, and who comes later at once", () => {
  const cut = new BodyCut();
  const told: string[] = [];
  cut.wait(() => told.push("first"));
  const stop = cut.wait(() => told.push("stopped"));
  stop();
  cut.make();
  cut.wait(() => told.push("later"));
  cut.make();
  assertEquals(told, ["first", "later"]);
});
