import { assert, assertEquals } from "@std/assert";
import { permitted } from "./permitted.ts";

const ROOT = new URL("../", import.meta.url);

Deno.test({
  name: "Every task that reads the settings may read every variable that config.ts reads",
  ignore: !permitted("read"),
  fn: async () => {
    const source = await Deno.readTextFile(new URL("src/config.ts", ROOT));
    const names = [...source.matchAll(/(?:read|readAddress)\("([A-Z_]+)"\)/g)].map(([, name]) =>
      name
    );
    assert(names.length > 5 && names.includes("KV_PATH"), `found only ${names}`);
    const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
    let checked = 0;
    for (const [task, command] of Object.entries<string>(tasks)) {
      const allowed = /--allow-env=(\S+)/.exec(command)?.[1].split(",");
      if (allowed === undefined) continue;
      assertEquals(names.filter((name) => !allowed.includes(name)), [], `deno task ${task}`);
      checked++;
    }
    assert(checked >= 7);
  },
});
