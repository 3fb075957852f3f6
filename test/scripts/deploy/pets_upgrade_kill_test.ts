/**
 * Kills `pets-upgrade` at a line before its change and at some after it, which are others in each run, starts the machine
 * again, and runs it again, on Deno and on Node. With `TEST_EVERY_LINE=1`, it does so at each line, which takes minutes.
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { VERSION } from "../../../src/settings/version.ts";
import { freePort } from "../../support/free_port.ts";
import { BUILT, IS_ON_NODE } from "../../support/programs.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { ROOT, withProjectCopy } from "../../support/with_project_copy.ts";
import { Installation } from "./installation.ts";

const FORMAT = parseInt(VERSION);
const NEXT_FORMAT = `${FORMAT + 1}.0.0`;

/** What bash reads before it runs a script: it notes each line, and may end there as SIGKILL ends it. */
const KILLER = `
set -T
trap 'echo $LINENO >>"$LINES_FILE"; if [ "$LINENO" = "\${KILL_AT:-}" ]; then kill -KILL $$; fi' DEBUG
`;

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
      const port = freePort();
      await installDeployed(installation, copy);
      await Deno.writeTextFile(`${folder}/killer`, KILLER);
      const lines = `HOST=127.0.0.1\nKV_PATH=${folder}/data/pets.sqlite3\nPORT=${port}\n`;
      await Deno.writeTextFile(`${folder}/etc/animal-store.env`, lines);
      await installation.use(VERSION);
      const expectRun = async (line: string) => {
        const { code, stdout, stderr } = await installation.run(line);
        assertEquals(code, 0, `${line}: ${stdout}${stderr}`);
        return { stdout, stderr };
      };
      const start =
        `systemctl start && curl -sf --retry 100 --retry-delay 1 --retry-all-errors 127.0.0.1:${port}/readyz`;
      const token = (await expectRun("pets keys issue --label test")).stdout.trim();
      const add = async () => {
        const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
        const body = JSON.stringify({ name: "Rex", categoryId: 1 });
        const init = { method: "POST", headers, body };
        const response = await fetch(`http://127.0.0.1:${port}/v1/pets`, init);
        return [response.status, (await response.json()).id];
      };
      await expectRun(start);
      assertEquals(await add(), [201, 1]);
      await expectRun(`systemctl stop && cp -a ${folder}/data ${folder}/etc ${folder}/opt`);
      const reset = `systemctl stop
        rm -rf ${folder}/data ${folder}/etc && cp -a ${folder}/opt/data ${folder}/opt/etc ${folder}`;
      const upgrade = (killAt?: number) =>
        `BASH_ENV=${folder}/killer LINES_FILE=${folder}/lines KILL_AT=${killAt ?? ""} \
          bash ${folder}/bin/pets-upgrade ${NEXT_FORMAT}`;

      await expectRun(start);
      await expectRun(upgrade());
      const noted = (await Deno.readTextFile(`${folder}/lines`)).trim().split("\n").map(Number);
      const script = await Deno.readTextFile(`${folder}/bin/pets-upgrade`);
      const texts = script.split("\n");
      // Until this line has run, nothing has changed, and the service continues.
      const last = noted.indexOf(texts.indexOf('cp -p "$settings" "$settings.next"') + 1);
      assert(last > 0);
      await expectRun(reset);
      await expectRun(start);
      const settings = await installation.settings;
      let added = 1;
      const before = new Set(noted.slice(0, last + 1));
      for (const line of someOf(before, 1)) {
        const { code } = await installation.run(upgrade(line));
        assertEquals([line, code], [line, 128 + 9]);
        assertEquals(await add(), [201, ++added]);
        assertEquals(await installation.settings, settings);
      }
      const versions = new Set<string>();
      for (const line of someOf(new Set(noted.slice(last + 1)).difference(before), 2)) {
        const at = `killed at line ${line}: ${texts[line - 1]}`;
        await expectRun(reset);
        await expectRun(start);
        const killed = await installation.run(upgrade(line));
        assertEquals(killed.code, 128 + 9, `${at}\n${killed.stderr}`);
        await expectRun(`systemctl stop; ${start}`);
        versions.add((await expectRun("pets log --version")).stdout);
        assertEquals(await add(), [201, 2], at);
        // The machine did not start again, but the service has stopped.
        await expectRun("systemctl stop");
        const again = await installation.run(upgrade());
        assertEquals(again.code, 0, `${at}\n${again.stderr}`);
        assertMatch(
          again.stderr,
          /^An earlier change was interrupted|is the version of the settings/,
        );
        assertEquals(
          (await expectRun("pets log --version")).stdout,
          `Animal Store ${NEXT_FORMAT}\n`,
          at,
        );
        assertEquals(await add(), [201, 3], at);
      }
      if (isEveryLine) {
        assertEquals(versions.size, 2, "No kill was after the change of the settings");
      }
    }),
);

/** Installs this version, and one of the next format, as the manual says for the runtime. */
async function installDeployed(installation: Installation, copy: string): Promise<void> {
  const edits: [text: string, next: string][] = [
    [`VERSION = "${VERSION}"`, `VERSION = "${NEXT_FORMAT}"`],
    [`STORE_FORMAT = ${FORMAT}`, `STORE_FORMAT = ${FORMAT + 1}`],
  ];
  if (!IS_ON_NODE) {
    const files = ["src/settings/version.ts", "src/eventstore_less/log/head.ts"];
    for (const [index, [text, next]] of edits.entries()) {
      await edit(`${copy}/${files[index]}`, text, next);
    }
    await installation.install(VERSION, ROOT);
    await installation.install(NEXT_FORMAT, copy);
    return;
  }
  for (const name of [VERSION, NEXT_FORMAT]) {
    const program = `${installation.folder}/opt/animal-store-${name}`;
    await Deno.mkdir(program);
    await Deno.copyFile(BUILT, `${program}/animal-store.mjs`);
    if (name === VERSION) continue;
    for (const [text, next] of edits) {
      // The build leaves out spaces.
      const built = (it: string) => it.replaceAll(" ", "");
      await edit(`${program}/animal-store.mjs`, built(text), built(next));
    }
  }
}

async function edit(file: string, text: string, next: string): Promise<void> {
  const source = await Deno.readTextFile(file);
  assert(source.includes(text), `${file}: ${text}`);
  await Deno.writeTextFile(file, source.replace(text, next));
}
