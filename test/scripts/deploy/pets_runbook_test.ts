/** The advice of the manuals, of an audit, of a backup and of lines of the log works word for word with `pets`. */

import { DatabaseSync } from "node:sqlite";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { VERSION } from "../../../src/settings/version.ts";
import { cutOff } from "../../support/cut_off.ts";
import { changeFile } from "../../support/sample_file.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { useRealStore } from "../../support/real_store.ts";
import { until } from "../../support/until.ts";
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
    /(?<!`)`((?:[^`]*deno task |pets switch )[^`]+)`|^ *((?:env "\$new" )?deno task [^`\n]+|(?:new|now)=.+|echo "\$new")$/gm,
  );
  const commands = Array.from(found, ([, inSentence, inBlock]) => {
    return (inSentence ?? inBlock).replaceAll(/\s+/g, " ").replaceAll("deno task", "pets");
  });
  return commands.map((command) => movedTo(folder, command));
}

/** Runs commands in one shell, and resolves to what they print. The last line of `stdout` is the name of the new store. */
async function runAll(installation: Installation, commands: string[]) {
  const script = ["set -eu", "umask 077", ...commands].join("\n");
  const { code, stdout, stderr } = await installation.run(`cd ${installation.folder}\n${script}`);
  assertEquals(code, 0, `${script}: ${stdout}${stderr}`);
  return { said: stdout + stderr, store: stdout.trimEnd().split("\n").at(-1)! };
}

/** Makes the service use another store. */
async function serveStore(store: string, installation: Installation) {
  await installation.expect(`pets switch ${store}`);
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

const TWICE = [1, 2];

test("Go back to a point in time, with pets, twice in a row: the service has the animals of that time, and a later revocation is made again", () =>
  withService(async ({ installation, client }) => {
    for (const time of TWICE) {
      await installation.expect(`pets keys issue --label friend-${time}`);
      const listed = JSON.parse(await installation.expect("pets keys list --json"));
      const friend = listed.find(({ label }: { label: string }) => label === `friend-${time}`);
      await client.add({ name: "Rex", categoryId: 1 });
      const until = new Date().toISOString();
      await client.add({ name: "Mistake", categoryId: 1 });
      await installation.expect(`pets keys revoke ${friend.id}`);

      const commands = (await commandsOf("Go back to a point in time", installation))
        .map((command) => command.replace("2026-11-20T08:00Z", until));
      const names = commands.map((line) =>
        /^(?:env "\$new" )?(?:pets )?(keys \w+|\w+)/.exec(line)![1]
      );
      assertEquals(
        names,
        ["log", "backup", "new", "restore", "audit", "echo", "keys revoke", "switch"],
      );
      const [revoke, switchStore] = commands.splice(-2);
      const { said, store } = await runAll(installation, commands);
      assertMatch(
        said,
        RegExp(`^Sound: ${1 + 2 * time + (time - 1)} events, ${time} pets?\\.$`, "m"),
      );
      const [, id] = /^Key (\w+) \(friend-\d\) is valid again: /m.exec(said)!;
      assertEquals(id, friend.id);
      await runAll(installation, [`new='${store}'`, revoke.replace("ID", id)]);
      await runAll(installation, [`new='${store}'`, switchStore]);
      assertEquals((await client.listIds()).toReversed(), TWICE.slice(0, time));
      const keys = JSON.parse(await installation.expect("pets keys list --json"));
      const state = keys.find((key: { id: string }) => key.id === friend.id).state;
      assertEquals(state, "revoked");
    }
  }));

test("Restore a backup, with pets, twice in a row: the service has what the backup has, and the backup continues", () =>
  withService(async ({ installation, client }) => {
    const { folder } = installation;
    let lost = `${folder}/data/pets.sqlite3`;
    for (const time of TWICE) {
      await client.add({ name: "Rex", categoryId: 1 });
      const [update, ...commands] = await commandsOf("Restore a backup", installation);
      await installation.expect(update);
      await installation.expect(`systemctl stop animal-store && rm ${lost}*`);
      const { said, store } = await runAll(installation, commands);
      assertEquals(said.match(RegExp(`^Sound: ${1 + time} events`, "gm"))?.length, 2);
      await serveStore(store, installation);
      assertEquals((await client.listIds()).toReversed(), TWICE.slice(0, time));
      lost = store.replace("KV_PATH=", "");
    }
  }));

test("The advice of an audit, with pets, twice in a row: a damaged store is recovered with all events after the backup", () =>
  withService(async ({ installation, client }) => {
    const { folder } = installation;
    let [store, backup] = [`${folder}/data/pets.sqlite3`, `${folder}/data-backup/log.jsonl`];
    await installation.expect(`pets backup ${backup}`);
    for (const time of TWICE) {
      await client.add({ name: "Rex", categoryId: 1 });
      await installation.expect("systemctl stop animal-store");
      {
        using database = new DatabaseSync(store);
        database.exec("delete from data_version");
      }
      const { code, stdout: report } = await installation.run("pets audit");
      assertEquals(code, 1);
      const commands = report.split("\n").filter((line) => line.startsWith("  "))
        .map((line) => line.replace("BACKUP", backup))
        .map((line) => movedTo(folder, line));
      assert(commands.length > 4, report);
      // The backup of a damaged store exits with 1.
      const { stdout, stderr } = await installation.run(`cd ${folder}\n${commands.join("\n")}`);
      const sound = stdout.match(RegExp(`^Sound: ${1 + time} events`, "gm"));
      // The copy, the new store, and the audit of the switch.
      assertEquals(sound?.length, 3, stdout + stderr);
      [, store] = /KV_PATH=(\S+)/.exec(commands.join("\n"))!;
      [, backup] = /pets backup (\S+)/.exec(commands.join("\n"))!;
      assertMatch(stderr, RegExp(`^The service is ready on KV_PATH=${store}, `, "m"));
      assertEquals((await client.listIds()).toReversed(), TWICE.slice(0, time));
    }
  }));

test("Erase personal data, with pets, twice in a row: the new store has no name of the animal, and the service continues on it", () =>
  withService(async ({ installation, client }) => {
    await client.add({ name: "Rex", categoryId: 1 });
    for (const time of TWICE) {
      const id = 1 + time;
      await client.add({ name: "Ann Smith", categoryId: 1 });
      await installation.expect("systemctl stop animal-store");
      const commands = (await commandsOf("Erase personal data", installation, "README.md"))
        .filter((command) => !command.includes("TEXT"))
        .map((command) => command.replace("pets/2", `pets/${id}`));
      const switchStore = commands.pop()!;
      const { said, store } = await runAll(installation, commands);
      assertMatch(said, RegExp(`^Sound: ${2 + time} events, ${id} pets\\.$`, "m"));
      await runAll(installation, [`new='${store}'`, switchStore]);
      const pets = await (await client.send("/v1/pets")).json();
      const names = pets.map(({ name }: { name: string }) => name);
      assertEquals(names, [...Array(time).fill("(removed)"), "Rex"]);
    }
  }));

/** The line of an event that the service has logged for the `count`th time. */
async function loggedLine(event: string, count: number, { folder }: Installation) {
  const found = async () => {
    const lines = (await Deno.readTextFile(`${folder}/log`)).split("\n");
    return lines.filter((line) => line.includes(`"event":"${event}"`));
  };
  await until(async () => (await found()).length >= count);
  return JSON.parse((await found())[count - 1]);
}

/** The commands in the sentences of an advice. */
function commandsIn(advice: string, { folder }: Installation): string[] {
  const found = advice.matchAll(/(?:echo|(?:KV_PATH=\S+ )?pets) .*?(?=[.,;]? *$|[.,;] )/g);
  return Array.from(found, ([command]) => movedTo(folder, command));
}

/** Puts an older state of the store back, which lacks the last event. */
async function setBack(store: string): Promise<void> {
  await changeFile(store, await useRealStore(store, (it) => cutOff(it.store)));
}

test("The remedy of store_file_lost, with pets, twice in a row: the service continues on the copy with all animals", () =>
  withService(async ({ installation, client }) => {
    let store = `${installation.folder}/data/pets.sqlite3`;
    for (const time of TWICE) {
      await client.add({ name: "Rex", categoryId: 1 });
      await installation.expect(`rm ${store}*`);
      const { remedy, saveCommand } = await loggedLine("store_file_lost", time, installation);
      await installation.expect(saveCommand);
      const commands = commandsIn(remedy, installation);
      assertEquals(commands.map((command) => /pets (\w+)/.exec(command)?.[1]), ["audit", "switch"]);
      const { code, stdout: status, stderr: why } = await installation.run("pets status");
      assertEquals([code, status], [2, ""]);
      assertMatch(
        why,
        /^The service at \S+ is not ready: Writes fail: The store's file was deleted, .*journalctl/,
      );
      const { said } = await runAll(installation, commands);
      assertEquals(said.match(RegExp(`^Sound: ${1 + time} events`, "gm"))?.length, 2, said);
      // The earlier store is gone.
      assertEquals(/error:|go back/.exec(said), null, said);
      assertEquals((await client.listIds()).toReversed(), TWICE.slice(0, time));
      [, store] = /KV_PATH=(\S+)/.exec(await installation.settings)!;
      assert(store.includes(".saved-"), store);
    }
  }));

test("The remedy of head_lost, with pets, twice in a row: the service continues on the backup with all animals", () =>
  withService(async ({ installation, client }) => {
    const { folder } = installation;
    const backup = `${folder}/data-backup/log.jsonl`;
    let store = `${folder}/data/pets.sqlite3`;
    for (const time of TWICE) {
      await client.add({ name: "Rex", categoryId: 1 });
      await installation.expect(`pets backup ${backup}`);
      await setBack(store);
      assertEquals((await client.send("/v1/pets")).status, 503);
      const { remedy, checkpoint } = await loggedLine("head_lost", time, installation);
      const { stdout: status } = await installation.run("pets status");
      assertMatch(status, /^Do first +The service at \S+ is not ready: .*older one.*journalctl/m);
      await installation.expect("systemctl stop animal-store");
      const commands = commandsIn(remedy, installation);
      const [write, audit] = commands;
      assertEquals(commands.length, 2, remedy);
      await installation.expect(write.replace("CHECKPOINT", JSON.stringify(checkpoint)));
      const { code, stdout: report } = await installation.run(audit);
      assertEquals(code, 1, report);
      const [, seen] = /--checkpoint (\S+)/.exec(audit)!;
      const advised = report.split("\n").filter((line) => line.startsWith("  "))
        .map((line) =>
          movedTo(folder, line.replace("PATH ", `${seen} `).replace("BACKUP", backup))
        );
      const { said } = await runAll(installation, advised);
      assertEquals(said.match(RegExp(`^Sound: ${1 + time} events`, "gm"))?.length, 3, said);
      assertEquals((await client.listIds()).toReversed(), TWICE.slice(0, time));
      [, store] = /KV_PATH=(\S+)/.exec(await installation.settings)!;
    }
  }));

test("The advice of a backup that has events that the store lacks, with pets, twice in a row: the service continues with all of them", () =>
  withService(async ({ installation, client }) => {
    const backup = `${installation.folder}/data-backup/log.jsonl`;
    let store = `${installation.folder}/data/pets.sqlite3`;
    for (const time of TWICE) {
      await client.add({ name: "Rex", categoryId: 1 });
      await installation.expect(`pets backup ${backup}`);
      await installation.expect("systemctl stop animal-store");
      await setBack(store);
      await installation.expect("systemctl start animal-store");
      const { code, stderr } = await installation.run(`pets backup ${backup}`);
      assertEquals(code, 1, stderr);
      const commands = commandsIn(stderr.trimEnd(), installation)
        .map((command) => command);
      const names = commands.map((command) => /pets (\w+)/.exec(command)?.[1]);
      assertEquals(names, ["audit", "restore", "switch"], stderr);
      await installation.expect("systemctl stop animal-store");
      const { said } = await runAll(installation, commands);
      assertEquals(said.match(RegExp(`^Sound: ${1 + time} events`, "gm"))?.length, 2, said);
      await installation.expect("systemctl start animal-store");
      assertEquals((await client.listIds()).toReversed(), TWICE.slice(0, time));
      [, store] = /KV_PATH=(\S+)/.exec(await installation.settings)!;
    }
  }));
