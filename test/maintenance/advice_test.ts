import { assert, assertEquals } from "@std/assert";
import { ACTIONS, adviceFor, FAULT_KINDS } from "../../src/maintenance/advice.ts";
import { permitted } from "../support/permitted.ts";

Deno.test({
  name:
    "README: its chapter about faults has every kind with its action, and the text of every action",
  ignore: !permitted("read"),
  async fn() {
    const readme = await Deno.readTextFile(new URL("../../README.md", import.meta.url));
    const [, chapter] = /#### When an audit finds a fault\n([^]*?)\n###/.exec(readme)!;
    const rows = [...chapter.matchAll(/^\| `(\w+)` +\| (.*?) +\| (\w+) +\|$/gm)];
    assertEquals(
      rows.map(([, kind, meaning, action]) => [kind, { meaning, action }]),
      Object.entries(FAULT_KINDS),
    );
    const items = [...chapter.matchAll(/^- \*\*(\w+)\*\*: ([^]*?)$(?!\n {2})/gm)];
    assertEquals(
      items.map(([, action, text]) => [action, text.replaceAll(/\s+/g, " ")]),
      Object.entries(ACTIONS),
    );
  },
});

Deno.test("adviceFor() names the last position before the first bad line", () => {
  const advice = adviceFor("line", 41);
  assert(advice.endsWith("up to position 41: head -n 41 BACKUP | deno task restore -"), advice);
});
