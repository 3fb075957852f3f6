import { assertStringIncludes } from "@std/assert";
import { PET_EVENT_TYPES } from "../../events/pet_event.ts";
import { permissions, testNeeding } from "../support/test_needing.ts";

testNeeding(permissions("read"))(
  "the manual and the guide of the feed name each type",
  async () => {
    const manual = await Deno.readTextFile(new URL("../../src/http/README.md", import.meta.url));
    const guides = await Deno.readTextFile(
      new URL("../../src/http/docs/guides.md", import.meta.url),
    );
    for (const type of PET_EVENT_TYPES) assertStringIncludes(manual, `\`${type}\``);
    const types = PET_EVENT_TYPES.map((type) => `"${type}"`).join(", ");
    assertStringIncludes(guides, `for (const type of [${types}]) {`);
  },
);
