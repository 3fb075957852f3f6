/** The settings in the examples of scripts/deploy, of which an installation copies animal-store.env. */

import { assert, assertEquals } from "@std/assert";
import { SERVICE_VARIABLES } from "../../../src/settings/variables.ts";
import { permissions, PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { ROOT } from "../../support/with_project_copy.ts";
import { Installation, movedTo } from "./installation.ts";

const read = () => Deno.readTextFile(`${ROOT}scripts/deploy/animal-store.env`);

/** The variables that an example sets, also on a line that is commented out. */
const EXAMPLES: [file: string, variable: RegExp][] = [
  ["animal-store.env", /^#?([A-Z_]+)=\S/gm],
  ["animal-store.service", /^Environment=([A-Z_]+)=/gm],
  ["Containerfile", /(?<=^ENV .*)\b([A-Z_]+)=/gm],
  ["kubernetes.yml", /name: ([A-Z_]+), value:/g],
];

testNeeding(permissions("read"))(
  "Each variable of an example is one that the service reads, so that nobody sets one in vain",
  async () => {
    const known: readonly string[] = [...SERVICE_VARIABLES, "ANIMAL_STORE"];
    for (const [file, variable] of EXAMPLES) {
      const text = await Deno.readTextFile(`${ROOT}scripts/deploy/${file}`);
      const names = Array.from(text.matchAll(variable), ([, name]) => name);
      assert(names.length > 0, file);
      assertEquals([file, ...names.filter((name) => !known.includes(name))], [file]);
    }
  },
);

testNeeding(PROCESSES)(
  "pets takes the file as it is, and with all its settings but those of a database",
  async () => {
    const text = await read();
    const whole = text.replaceAll(/^#(?!DATABASE_URL|PGPASSFILE)([A-Z_]+=)/gm, "$1");
    for (const settings of [text, whole]) {
      await using installation = await Installation.make([]);
      const { folder } = installation;
      await Deno.writeTextFile(`${folder}/etc/animal-store.env`, movedTo(folder, settings));
      await installation.install("7.0.0", ROOT);
      const { code, stderr } = await installation.run("pets keys issue --label test");
      assertEquals(code, 0, stderr);
    }
  },
);
