import { assert, assertEquals } from "@std/assert";
import { APPLICATION } from "../../src/application.ts";
import { VERSION } from "../../src/settings/version.ts";
import { permissions, testNeeding } from "../support/test_needing.ts";
import { ROOT } from "../support/with_project_copy.ts";

/** The versions of schemas before format 6, when they were not named after releases. No version is added here. */
const NUMBERED: Record<string, string[]> = {
  PetCreated: ["1"],
  PetUpdated: ["1"],
  PetRemoved: ["1"],
  ApiKeyIssued: ["1", "2"],
  ApiKeyRevoked: ["1"],
};

Deno.test("each version of a schema is named after a release, which is not later than this version", () => {
  const release = VERSION.split(".").slice(0, 2).map(Number);
  for (const [type, { versions }] of Object.entries(APPLICATION.events)) {
    const numbered = NUMBERED[type] ?? [];
    assertEquals(versions.slice(0, numbered.length), numbered, type);
    for (const version of versions.slice(numbered.length)) {
      assert(/^[1-9]\d*\.\d+$/.test(version), `${type}: ${version} is not a release`);
      const [format, number] = version.split(".").map(Number);
      const isLater = format > release[0] || format === release[0] && number > release[1];
      assert(!isLater, `${type}: set VERSION, because ${VERSION} is before ${version}`);
    }
  }
});

testNeeding(permissions("read"))(
  "the changelog has this version first, then earlier ones, so nobody misses what has changed",
  async () => {
    const text = await Deno.readTextFile(`${ROOT}scripts/changelog.md`);
    const versions = Array.from(text.matchAll(/^## (\d+\.\d+\.\d+)$/gm), ([, version]) => version);
    assertEquals(versions[0], VERSION);
    const sorted = versions.toSorted((one, other) =>
      other.localeCompare(one, "en", { numeric: true })
    );
    assertEquals(versions, sorted);
  },
);
