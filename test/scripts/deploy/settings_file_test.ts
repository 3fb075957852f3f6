/** scripts/deploy/animal-store.env, which an installation copies. */

import { assert, assertEquals } from "@std/assert";
import { SERVICE_VARIABLES } from "../../../src/settings/variables.ts";
import { permissions, PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { ROOT } from "../../support/with_project_copy.ts";
import { Installation, movedTo } from "./installation.ts";

const read = () => Deno.readTextFile(`${ROOT}scripts/deploy/animal-store.env`);

testNeeding(permissions("read"))(
  "Each setting of the file, also one that is commented out, is a variable of the service",
  async () => {
    const names = Array.from((await read()).matchAll(/^#?([A-Z_]+)=\S/gm), ([, name]) => name);
    assert(names.length > 8, `${names}`);
    for (const name of ["PORT", "PUBLIC_URL", "TRUSTED_PROXIES", "METRICS_PORT", "PROCESSES"]) {
      assert(names.includes(name), name);
    }
    const known: readonly string[] = [...SERVICE_VARIABLES, "ANIMAL_STORE"];
    assertEquals(names.filter((name) => !known.includes(name)), []);
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
