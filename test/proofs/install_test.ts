/** Follows the installation that scripts/deploy/README.md describes, on each runtime, with packages from npm. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { Installation, movedTo } from "../scripts/deploy/installation.ts";
import { clientOf } from "../support/test_service.ts";
import { freePort } from "../support/free_port.ts";
import { testNeeding } from "../support/test_needing.ts";
import { expectDone, install } from "../support/third_party_tools.ts";
import { until } from "../support/until.ts";
import { ROOT, withProjectCopy } from "../support/with_project_copy.ts";

const NPM = await install("npm and its registry", () => {
  return expectDone("npm", ["view", "deno@2.9.6", "version"]);
});

const test = testNeeding(NPM);

/** The blocks of a language in the chapter about systemd. */
async function blocksOf(language: string): Promise<string[]> {
  const manual = await Deno.readTextFile(`${ROOT}scripts/deploy/README.md`);
  const [, chapter] = /^## systemd\n([^]*?)^## /m.exec(manual)!;
  const pattern = RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, "gm");
  return Array.from(chapter.matchAll(pattern), ([, block]) => block);
}

type Runtime = "Node" | "Deno";

/** The commands that install a runtime, the program and its settings, further settings, and the commands that make the first key. */
async function recipeOf(runtime: Runtime) {
  const [ofNode, settingsCommand, firstKey, _timers, _follower, ofDeno] = await blocksOf("sh");
  const [furtherSettings] = await blocksOf("env");
  if (runtime === "Node") return { commands: ofNode + settingsCommand, settings: "", firstKey };
  // The commands for Deno come in place of the first three of those for Node.
  const [, rest] = /^(?:.*\n){3}([^]*)$/.exec(ofNode)!;
  return { commands: ofDeno + rest + settingsCommand, settings: furtherSettings, firstKey };
}

for (const runtime of ["Node", "Deno"] as const) {
  test(`the commands of the manual install the service on ${runtime}, and its first key adds an animal`, () =>
    withProjectCopy(async (project) => {
      const { commands, settings, firstKey } = await recipeOf(runtime);
      await using installation = await Installation.make([]);
      const { folder } = installation;
      await Deno.mkdir(`${folder}/etc/systemd/system`, { recursive: true });
      for (const name of ["pets", "pets-upgrade"]) {
        const script = `${project}/scripts/deploy/${name}`;
        await Deno.writeTextFile(script, movedTo(folder, await Deno.readTextFile(script)));
      }
      const run = async (block: string) => {
        // Only root may make a user, and give files to it.
        const ofUser = block.replace(/^useradd .*$/m, "").replace(
          "-o animal-store -g animal-store",
          "",
        );
        const line = `set -e\ncd ${project}\n${movedTo(folder, ofUser)}`;
        const { code, stdout, stderr } = await installation.run(line);
        assertEquals(code, 0, stderr);
        return stdout;
      };
      await run(commands);
      const port = freePort();
      const file = `${folder}/etc/animal-store.env`;
      const lines = movedTo(folder, await Deno.readTextFile(file) + settings);
      await Deno.writeTextFile(file, lines.replace("PORT=8000", `PORT=${port}`));
      const token = (await run(firstKey)).trim();
      const address = `http://127.0.0.1:${port}`;
      const isReady = async () => (await fetch(`${address}/readyz`).catch(() => undefined))?.ok;
      await until(async () => assert(await isReady()), "The service is not ready");
      const client = clientOf(token, (path, init) => fetch(`${address}${path}`, init));
      const added = await client.add({ name: "Rex", categoryId: 1 });
      assertEquals(added.status, 201, await added.text());
      assertEquals((await fetch(`${address}/window`)).status, 200);
      assertMatch(await run("pets audit"), /^Sound: 2 events, 1 pets?\.$/m);
      const units = await Array.fromAsync(
        Deno.readDir(`${folder}/etc/systemd/system`),
        ({ name }) => name,
      );
      assertEquals(units.length, 8, `${units}`);
    }));
}
