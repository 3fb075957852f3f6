import { DatabaseSync } from "node:sqlite";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { VERSION } from "../../../src/settings/version.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { until } from "../../support/until.ts";
import { ROOT } from "../../support/with_project_copy.ts";
import { Installation, KILLER, neverReadyAfter } from "./installation.ts";

const test = testNeeding(PROCESSES);

interface Served extends Awaited<ReturnType<Installation["serve"]>> {
  installation: Installation;
  folder: string;
  /** The file of the backup that follows. */
  backup: string;
  checkpoint: string;
}

/** A service with two events, the backup that follows it, and the checkpoint of an audit. */
async function withService(use: (served: Served) => Promise<void>): Promise<void> {
  await using installation = await Installation.make([]);
  const { folder } = installation;
  const served = await installation.serve([[VERSION, ROOT]]);
  const [backup, checkpoint] = [
    `${folder}/data-backup/log.jsonl`,
    `${folder}/data-audit/checkpoint.json`,
  ];
  for (const name of ["backup", "audit"]) await Deno.mkdir(`${folder}/data-${name}`);
  await installation.expect("systemctl enable animal-store-backup-follow");
  assertEquals((await served.client.add({ name: "Rex", categoryId: 1 })).status, 201);
  await untilLines(backup, 2);
  await installation.expect(`pets audit --checkpoint ${checkpoint}`);
  await use({ installation, folder, backup, checkpoint, ...served });
}

/** Waits until a backup has so many lines. */
function untilLines(backup: string, count: number): Promise<void> {
  return until(async () => {
    const text = await Deno.readTextFile(backup).catch(() => "");
    assertEquals(text.split("\n").length - 1, count);
  }, `${backup} has not ${count} lines`);
}

function namesIn(folder: string): string[] {
  return Array.from(Deno.readDirSync(folder), ({ name }) => name).sort();
}

test("pets switch: the service, the backup that follows and the audit continue on a restored store, and the way back is one line", () =>
  withService(async ({ installation, folder, backup, checkpoint, client }) => {
    const restored = `KV_PATH=${folder}/data/restored.sqlite3`;
    await installation.expect(`${restored} pets restore ${backup}`);
    const file = `${folder}/etc/animal-store.env`;
    await Deno.chmod(file, 0o640);
    const settings = await installation.settings;
    const present = /^KV_PATH=.*$/m.exec(settings)![0];

    // A name is from the folder of the caller.
    const { code, stdout, stderr } = await installation.run(
      `cd ${folder}/data && pets switch KV_PATH=restored.sqlite3`,
    );
    assertEquals(code, 0, stderr);
    assertMatch(stdout, /^Sound: 2 events, 1 pet\.$/m);
    assertMatch(
      stderr,
      RegExp(
        `^The service is ready on ${restored}, after a pause of \\d+ s
The earlier store gets no events from now on. To go back to it: pets switch ${present}
$`,
        "m",
      ),
    );
    assertEquals(
      (await installation.settings).trim().split("\n").sort(),
      settings.replace(present, restored).trim().split("\n").sort(),
    );
    assertEquals(Deno.statSync(file).mode! & 0o777, 0o640);
    assertEquals(await Deno.readTextFile(`${file}.before`), settings);
    // The log is the same, so its backup and its checkpoint continue.
    const added = await client.add({ name: "Max", categoryId: 1 });
    assertEquals([added.status, (await added.json()).id], [201, 2]);
    await untilLines(backup, 3);
    assertEquals(namesIn(`${folder}/data-backup`), ["log.jsonl"]);
    await installation.expect(`pets audit --checkpoint ${checkpoint}`);

    // The earlier store has another history now.
    await Deno.writeTextFile(`${folder}/data-backup/log-2025.jsonl`, "");
    const [, back] = /To go back to it: (.*)$/m.exec(stderr)!;
    const returned = await installation.run(`umask 077; ${back}`);
    assertEquals(returned.code, 0, returned.stderr);
    assertEquals(await client.listIds(), [1]);
    const [, kept] = namesIn(`${folder}/data-backup`);
    assertMatch(kept, /^until-\d{8}T\d{6}Z$/);
    const modeOf = (name: string) => Deno.statSync(`${folder}/data-backup${name}`).mode;
    assertEquals(modeOf(`/${kept}`), modeOf(""), "whatever the umask of the caller is");
    assertStringIncludes(
      returned.stderr,
      `The log of the store does not continue ${backup}: a new one begins. The earlier one is in ${folder}/data-backup/${kept}`,
    );
    await untilLines(backup, 2);
    await untilLines(`${folder}/data-backup/${kept}/log.jsonl`, 3);
    // The weekly audit reads all files whose names begin so.
    assertEquals(namesIn(`${folder}/data-backup/${kept}`), ["log-2025.jsonl", "log.jsonl"]);
    assertEquals(namesIn(`${folder}/data-audit`), ["checkpoint.json", kept]);
    assertEquals((await client.add({ name: "Tom", categoryId: 1 })).status, 201);
    await untilLines(backup, 3);
    await installation.expect(`pets audit --checkpoint ${checkpoint}`);
    assertMatch(
      await installation.expect(`pets audit --file ${backup}`),
      /^Sound: 3 events, 2 pets/m,
    );
  }));

test("pets switch: says which events only the earlier store has, after its backup has them all", () =>
  withService(async ({ installation, folder, backup, client }) => {
    const earlier = `KV_PATH=${folder}/data/earlier.sqlite3`;
    await installation.expect(`${earlier} pets restore --to 1 ${backup}`);
    await installation.expect("systemctl stop animal-store-backup-follow");
    assertEquals((await client.add({ name: "Two\nlines", categoryId: 1 })).status, 201);
    const { code, stderr } = await installation.run(`pets switch ${earlier}`);
    assertEquals(code, 0, stderr);
    assertMatch(
      stderr,
      /^The present store ends at position 3, and the new one at 1: only the present one has the events that differ$/m,
    );
    const [, kept] = /The earlier one is in (\S*data-backup\S*)$/m.exec(stderr)!;
    await untilLines(`${kept}/log.jsonl`, 3);
    await untilLines(backup, 1);
  }));

test("pets switch: refuses a store that is not sound, and a wrong argument, before anything stops", () =>
  withService(async ({ installation, folder, backup }) => {
    const damaged = `${folder}/data/damaged.sqlite3`;
    await installation.expect(`KV_PATH=${damaged} pets restore ${backup}`);
    {
      using database = new DatabaseSync(damaged);
      database.exec("delete from data_version");
    }
    const processes = () =>
      ["pid", "follower_pid"].map((name) => Deno.readTextFileSync(`${folder}/${name}`));
    const before = [await installation.settings, namesIn(`${folder}/etc`), processes()];
    const cases: [args: string, reason: string][] = [
      [`KV_PATH=${damaged}`, "an audit has not found \\S+ sound. Nothing has changed"],
      [`KV_PATH=${folder}/data/none.sqlite3`, "an audit has not found \\S+ sound"],
      ["", "use pets switch KV_PATH=… or DATABASE_URL=…, the new store; see --help"],
      [`KV_PATH=${damaged} more`, "use pets switch KV_PATH"],
      ["PORT=1", "the last argument names the new store"],
      ["KV_PATH=:memory:", "the last argument names the new store"],
      [`"KV_PATH=/pets'.sqlite3"`, "the settings cannot have "],
    ];
    for (const [args, reason] of cases) {
      const { code, stderr } = await installation.run(`pets switch ${args}`);
      assertEquals([args, code], [args, 2]);
      assertMatch(stderr, RegExp(`^error: [^\n]*${reason}[^\n]*\n$`, "m"));
    }
    assertEquals([await installation.settings, namesIn(`${folder}/etc`), processes()], before);
    const help = await installation.expect("pets switch --help");
    assertMatch(help, /^ {2}pets switch KV_PATH=FILE$/m);
    assertMatch(await installation.expect("pets --help"), /^ {2}pets switch STORE +Lets /m);
  }));

test("pets switch: if the service is not ready, it is as it was, on its own store, unless the new one has events", () =>
  withService(async ({ installation, folder, address, backup, client }) => {
    const restored = `KV_PATH=${folder}/data/restored.sqlite3`;
    await installation.expect(`${restored} pets restore ${backup}`);
    const script = `${folder}/bin/pets-upgrade`;
    const source = await Deno.readTextFile(script);
    const settings = await installation.settings;
    await Deno.writeTextFile(script, neverReadyAfter("", source));
    const ready = `curl -s --retry 60 ${address}/readyz`;

    const failed = await installation.run(`pets switch ${restored}`);
    assert(failed.code > 0);
    assertMatch(
      failed.stderr,
      /^error: the change of the store failed, and the service has KV_PATH=\S+pets\.sqlite3 again: it starts again; see journalctl/m,
    );
    assertEquals(await installation.settings, settings);
    assertMatch(await installation.expect(ready), /ready/);
    assertEquals((await client.add({ name: "Max", categoryId: 1 })).status, 201);
    await untilLines(backup, 3);

    await installation.expect("systemctl stop animal-store");
    const stopped = await installation.run(`pets switch ${restored}`);
    assert(stopped.code > 0);
    assertMatch(stopped.stderr, / again: it is stopped, as before; see journalctl/);
    assertEquals(await installation.settings, settings);
    assertEquals((await installation.run("systemctl is-active animal-store")).stdout, "inactive\n");

    const writing = neverReadyAfter("pets keys issue --label y >/dev/null && ", source);
    await Deno.writeTextFile(script, writing);
    const written = await installation.run(`pets switch ${restored}`);
    assert(written.code > 0);
    assertMatch(written.stderr, /but has stored events there: it starts again; see journalctl/);
    assertMatch(await installation.settings, RegExp(`^${restored}$`, "m"));
    assertMatch(await installation.expect(ready), /ready/);
    await untilLines(backup, 3);
    assertMatch(await installation.expect("pets log --last 1"), /ApiKeyIssued/);
  }));

test("pets switch: killed before or after the change of the settings, the machine starts, and a second run ends the change", () =>
  withService(async ({ installation, folder, address, backup }) => {
    const restored = `KV_PATH=${folder}/data/restored.sqlite3`;
    await installation.expect(`${restored} pets restore ${backup}`);
    const present = /^KV_PATH=.*$/m.exec(await installation.settings)![0];
    await Deno.writeTextFile(`${folder}/killer`, KILLER);
    const lines = (await Deno.readTextFile(`${folder}/bin/pets-upgrade`)).split("\n");
    const served = async () => /^KV_PATH=.*$/m.exec(await installation.settings)![0];
    for (
      const [text, store] of [
        ['mv "$settings.next" "$settings"', present],
        ["start", restored],
        ["continue_backups", restored],
      ]
    ) {
      const line = lines.lastIndexOf(text) + 1;
      const killed = await installation.run(
        `BASH_ENV=${folder}/killer LINES_FILE=${folder}/lines KILL_AT=${line} \
          bash ${folder}/bin/pets-upgrade switch ${restored}`,
      );
      assertEquals([text, killed.code], [text, 128 + 9], killed.stderr);
      await installation.expect(
        `systemctl stop; systemctl start && curl -sf --retry 100 ${address}/readyz`,
      );
      assertEquals([text, await served()], [text, store]);
      const again = await installation.run(`pets switch ${restored}`);
      assertEquals(again.code, 0, again.stderr);
      assertEquals(await served(), restored);
      await installation.expect("systemctl is-active animal-store-backup-follow");
      assertEquals(namesIn(`${folder}/etc`), ["animal-store.env", "animal-store.env.before"]);
      await installation.expect(`pets switch ${present}`);
    }
  }));
