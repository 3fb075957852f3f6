import { assertEquals } from "@std/assert";
import { foldCase as foldOfService } from "../../../src/encoding/fold_case.ts";
import { foldCase } from "../../../src/http/window/fold_case.js";

Deno.test("the window compares names as the service does", () => {
  for (
    const text of ["Rex", "Straße", "ΣΊΣΥΦΟΣ ς", "ıİi", "i\u0307nci", "ﬁnch", "Å\u030a", "ᾳ", "😀"]
  ) {
    assertEquals(foldCase(text), foldOfService(text), text);
  }
});
