import { assertEquals } from "@std/assert";
import { VARIABLES } from "../../src/settings/variables.ts";
import { permitted } from "../support/permitted.ts";

const ROOT = new URL("../../", import.meta.url);

Deno.test({
  name: "The settings of the manual are those of the service, with their defaults",
  ignore: !permitted("read"),
  async fn() {
    const readme = await Deno.readTextFile(new URL("scripts/README.md", ROOT));
    const table = readme.slice(readme.indexOf("## Settings"), readme.indexOf("## Life cycle"));
    const rows = [...table.matchAll(/^\| `([A-Z_]+)` +\| (?:`([^`]+)`|none) +\|/gm)]
      .map(([, name, value]) => [name, value]);
    const others = ["NO_COLOR", "TMPDIR", "DENO_DEPLOYMENT_ID"];
    others.push("DENO_KV_DEFAULT_PATH", "DENO_KV_PATH_PREFIX");
    const expected = Object.entries<{ meaning: string; default?: string }>(VARIABLES)
      .filter(([name]) => !others.includes(name))
      .map(([name, variable]) => [name, variable.default]);
    assertEquals(rows, expected);
  },
});
