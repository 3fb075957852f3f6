/** The advice of the manuals and of an audit works word for word with `pets`. */

import { DatabaseSync } from "node:sqlite";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { VERSION } from "../../../src/settings/version.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { ROOT } from "../../support/with_project_copy.ts";
import { Installation, movedTo } from "./installation.ts";

const test = testNeeding(PROCESSES);

/** The commands in a chapter of a manual, in its blocks and in its sentences, as an installation has them. */
async function commandsOf(
  chapter: string,
  { folder }: Installation,
  manual = "runbook.md",
): Promise<string[]> {
  const manualText = await Deno.readTextFile(`${ROOT}scripts/${manual}`);
  const [, text] = RegExp(`^## ${chapter}\n([^]*?)^## `, "m").exec(manualText)!;
  // A command in a sentence may be on two lines, as in its source.
  const found = text.matchAll(
    /(?<!`)`([^`]*(?:deno task|pets switch) [^`]+)`|^ *((?:KV_PATH=\S+ )?deno task [^`\n]+)$/gm,
  );
  const commands = Array.from(found, ([, inSentence, inBlock]) => {
    return (inSentence ?? inBlock).replaceAll(/\s+/g, " ").replaceAll("deno task", "pets");
  });
  return commands.map((command) => movedTo(folder, command));
}

/** Makes the service use another store, of this name in the folder of the manual. */
async function serveStore(name: string, installation: Installation) {
  await installation.expect(`pets switch KV_PATH=${installation.folder}/data/${name}`);
}

async function withService(
  use: (
    it: Awaited<ReturnType<Installation["serve"]>> & { installation: Installation },
  ) => Promise<void>,
): Promise<void> {
  await using installation = await Installation.make([]);
  const served = await installation.serve([[VERSION, ROOT]]);
  await Deno.mkdir(`${installation.folder}/data-backup`);
  await use({ installation, ...served });
}

test("Go back to a point in time, with pets: the service has the animals of that time, and a later revocation is made again", () =>
  withService(async ({ installation, client }) => {
    await installation.expect("pets keys issue --label friend");
    const [, friend] = JSON.parse(await installation.expect("pets keys list --json"));
    await client.add({ name: "Rex", categoryId: 1 });
    const until = new Date().toISOString();
    await client.add({ name: "Mistake", categoryId: 1 });
    await installation.expect(`pets keys revoke ${friend.id}`);

    const commands = (await commandsOf("Go back to a point in time", installation))
      .map((command) => command.replace("2026-11-20T08:00Z", until));
    const names = ["log", "backup", "restore", "audit", "keys revoke", "switch"];
    assertEquals(commands.map((line) => /pets (keys \w+|\w+)/.exec(line)![1]), names);
    const [revoke, switchStore] = commands.splice(-2);
    let said = "";
    for (const command of commands) {
      const { code, stdout, stderr } = await installation.run(command);
      assertEquals(code, 0, `${command}: ${stderr}`);
      said += stdout + stderr;
    }
    assertMatch(said, /^Sound: 3 events, 1 pet\.$/m);
    const [, id] = /^Key (\w+) \(friend\) is valid again: /m.exec(said)!;
    assertEquals(id, friend.id);
    await installation.expect(revoke.replace("ID", id));
    await installation.expect(switchStore);
    assertEquals(await client.listIds(), [1]);
    const [, revoked] = JSON.parse(await installation.expect("pets keys list --json"));
    assertEquals([revoked.id, revoked.state], [friend.id, "revoked"]);
  }));

test("Restore a backup, with pets: the service has what the backup has, and the backup continues", () =>
  withService(async ({ installation, client }) => {
    const { folder } = installation;
    await client.add({ name: "Rex", categoryId: 1 });
    const [update, ...commands] = await commandsOf("Restore a backup", installation);
    await installation.expect(update);
    await installation.expect(`systemctl stop animal-store && rm ${folder}/data/pets.sqlite3*`);
    let said = "";
    for (const command of commands) said += await installation.expect(command);
    assertEquals(said.match(/^Sound: 2 events/gm)?.length, 2);
    await serveStore("restored.sqlite3", installation);
    assertEquals(await client.listIds(), [1]);
  }));

test("The advice of an audit, with pets: a damaged store is recovered with all events after the backup", () =>
  withService(async ({ installation, client }) => {
    const { folder } = installation;
    await installation.expect(`pets backup ${folder}/data-backup/log.jsonl`);
    await client.add({ name: "Rex", categoryId: 1 });
    await installation.expect("systemctl stop animal-store");
    {
      using database = new DatabaseSync(`${folder}/data/pets.sqlite3`);
      database.exec("delete from data_version");
    }
    const { code, stdout: report } = await installation.run("pets audit");
    assertEquals(code, 1);
    const commands = report.split("\n").filter((line) => line.startsWith("  "))
      .map((line) => line.replace("BACKUP", `${folder}/data-backup/log.jsonl`))
      .map((line) => movedTo(folder, line));
    assert(commands.length > 4, report);
    // The backup of a damaged store exits with 1.
    const { stdout, stderr } = await installation.run(`cd ${folder}\n${commands.join("\n")}`);
    assertEquals(stdout.match(/^Sound: 2 events/gm)?.length, 2, stdout + stderr);
    await serveStore("restored.sqlite3", installation);
    assertEquals(await client.listIds(), [1]);
  }));

test("Erase personal data, with pets: the new store has no name of the animal, and the service continues on it", () =>
  withService(async ({ installation, client }) => {
    const { folder } = installation;
    await client.add({ name: "Rex", categoryId: 1 });
    await client.add({ name: "Ann Smith", categoryId: 1 });
    await installation.expect("systemctl stop animal-store");
    const all = await commandsOf("Erase personal data", installation, "README.md");
    const [[switchStore], commands] = [
      all.filter((command) => command.startsWith("pets switch")),
      all.filter((command) => !command.startsWith("pets switch")),
    ];
    const printed = await installation.expect(
      `cd ${folder}\numask 077\n${commands.join("\n").replace("TEXT", "Ann")}`,
    );
    assertMatch(printed, /^Sound: 3 events, 2 pets\.$/m);
    await installation.expect(switchStore);
    const pets = await (await client.send("/v1/pets")).json();
    assertEquals(pets.map(({ name }: { name: string }) => name), ["(removed)", "Rex"]);
  }));
