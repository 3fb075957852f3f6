import { assertEquals } from "@std/assert";
import { BodyCancellation } from "../../../src/http/requests/body_cancellation.ts";

Deno.test("cancel() calls every waiting callback once, no stopped one, and later ones at once", () => {
  const cancellation = new BodyCancellation();
  const called: string[] = [];
  cancellation.wait(() => called.push("first"));
  const stop = cancellation.wait(() => called.push("stopped"));
  stop();
  cancellation.cancel();
  cancellation.wait(() => called.push("later"));
  cancellation.cancel();
  assertEquals(called, ["first", "later"]);
});
