import { assertEquals } from "@std/assert";
import { describeSummary, describeVerdict } from "../../../scripts/conformance/describe_judged.ts";

Deno.test("describeVerdict() and describeSummary() say which clause was not tried, and why", () => {
  const verdict = {
    clause: "4.1 List animals: Link leads through all animals, too",
    verdict: "not tried",
    reason: "It needs an empty store",
  } as const;
  assertEquals(
    describeVerdict(verdict),
    "not tried  4.1 List animals: Link leads through all animals, too: It needs an empty store",
  );
  assertEquals(
    describeSummary({ verdicts: [verdict], left: [] }),
    "1 clause: 0 held, 0 broken, 1 not tried",
  );
});
