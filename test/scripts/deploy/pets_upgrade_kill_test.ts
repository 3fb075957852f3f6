/**
 * Kills `pets-upgrade` at a line before its change and at some after it, which are others in each run, starts the machine
 * again, and runs it again, on Deno and on Node. With `TEST_EVERY_LINE=1`, it does so at each line, which takes minutes.
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { STORE_FORMAT } from "../../../src/eventstore_less/log/store_format.ts";
import { VERSION } from "../../../src/settings/version.ts";
import { BUILT, IS_ON_NODE } from "../../support/programs.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { ROOT, withProjectCopy } from "../../support/with_project_copy.ts";
import { Installation, KILLER } from "./installation.ts";

const NEXT_FORMAT = "99.0.0";

testNeeding(PROCESSES)(
  "pets-upgrade: killed at any line, the machine starts either version with all events, and a second run ends the change",
  () =>
    withProjectCopy(async (copy) => {
      const isEveryLine = Deno.env.get("TEST_EVERY_LINE") === "1";
      const someOf = (lines: Set<number>, count: number) => {
        const step = isEveryLine ? 1 : Math.ceil(lines.size / count);
        const first = Math.floor(step * Math.random());
        return [...lines].filter((_, index) => index % step === first);
      };
      await using installation = await Installation.make([]);
      const { folder } = installation;
      const versions = await versionsFor(installation, copy);
      await Deno.writeTextFile(`${folder}/killer`, KILLER);
      const { address, client } = await installation.serve(versions);
      const start = `systemctl start && curl -sf --retry 100 ${address}/readyz`;
      const add = async () => {
        const response = await client.add({ name: "Rex", categoryId: 1 });
        return [response.status, (await response.json()).id];
      };
      assertEquals(await add(), [201, 1]);
      await installation.expect(
        `systemctl stop && cp -a ${folder}/data ${folder}/etc ${folder}/opt`,
      );
      const reset = `systemctl stop
        rm -rf ${folder}/data ${folder}/etc && cp -a ${folder}/opt/data ${folder}/opt/etc ${folder}`;
      const upgrade = (killAt?: number) =>
        `BASH_ENV=${folder}/killer LINES_FILE=${folder}/lines KILL_AT=${killAt ?? ""} \
          bash ${folder}/bin/pets-upgrade ${NEXT_FORMAT}`;

      await installation.expect(start);
      await installation.expect(upgrade());
      const noted = (await Deno.readTextFile(`${folder}/lines`)).trim().split("\n").map(Number);
      const script = await Deno.readTextFile(`${folder}/bin/pets-upgrade`);
      const texts = script.split("\n");
      // Until this line has run, nothing has changed, and the service continues.
      const last = noted.indexOf(texts.indexOf('cp -p "$settings" "$settings.next"') + 1);
      assert(last > 0);
      await installation.expect(reset);
      await installation.expect(start);
      const settings = await installation.settings;
      let added = 1;
      const before = new Set(noted.slice(0, last + 1));
      for (const line of someOf(before, 1)) {
        const { code } = await installation.run(upgrade(line));
        assertEquals([line, code], [line, 128 + 9]);
        assertEquals(await add(), [201, ++added]);
        assertEquals(await installation.settings, settings);
      }
      const served = new Set<string>();
      for (const line of someOf(new Set(noted.slice(last + 1)).difference(before), 2)) {
        const at = `killed at line ${line}: ${texts[line - 1]}`;
        await installation.expect(reset);
        await installation.expect(start);
        const killed = await installation.run(upgrade(line));
        assertEquals(killed.code, 128 + 9, `${at}\n${killed.stderr}`);
        await installation.expect(`systemctl stop; ${start}`);
        served.add(await installation.expect("pets log --version"));
        assertEquals(await add(), [201, 2], at);
        // The machine did not start again, but the service has stopped.
        await installation.expect("systemctl stop");
        const again = await installation.run(upgrade());
        assertEquals(again.code, 0, `${at}\n${again.stderr}`);
        assertMatch(
          again.stderr,
          /^An earlier change was interrupted|is the version of the settings/,
        );
        const version = await installation.expect("pets log --version");
        assertMatch(version, RegExp(`^Animal Store ${NEXT_FORMAT}\\b`), at);
        assertEquals(await add(), [201, 3], at);
      }
      if (isEveryLine) {
        assertEquals(served.size, 2, "No kill was after the change of the settings");
      }
    }),
);

/** This version, and one of the next format, which on Node are installed as the manual says. */
async function versionsFor(
  installation: Installation,
  copy: string,
): Promise<[name: string, project: string][]> {
  if (!IS_ON_NODE) {
    const format = `STORE_FORMAT = ${STORE_FORMAT}`;
    const nextFormat = `STORE_FORMAT = ${STORE_FORMAT + 1}`;
    await edit(`${copy}/src/settings/version.ts`, `"${VERSION}"`, `"${NEXT_FORMAT}"`);
    await edit(`${copy}/src/eventstore_less/log/store_format.ts`, format, nextFormat);
    return [[VERSION, ROOT], [NEXT_FORMAT, copy]];
  }
  const folders = [VERSION, NEXT_FORMAT].map((name): [string, string] => [
    name,
    `${installation.folder}/built-${name}`,
  ]);
  for (const [, folder] of folders) {
    await Deno.mkdir(folder);
    await Deno.copyFile(BUILT, `${folder}/animal-store.mjs`);
  }
  const [, [, next]] = folders;
  const program = `${next}/animal-store.mjs`;
  // The build has the number in many places. The script reads this one.
  const format = `(stores of format \${${STORE_FORMAT}}`;
  await edit(program, format, `(stores of format ${STORE_FORMAT + 1}`);
  await edit(program, `="${VERSION}"`, `="${NEXT_FORMAT}"`);
  return folders;
}

async function edit(file: string, text: string, next: string): Promise<void> {
  const source = await Deno.readTextFile(file);
  assert(source.includes(text), `${file}: ${text}`);
  await Deno.writeTextFile(file, source.replace(text, next));
}
