import { Buffer } from "node:buffer";
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { expectTask, expectTaskFails, runTask } from "../../support/run_task.ts";
import { linesToBytes, rewritten, sampleLog } from "../../support/sample_log.ts";
import { ServiceProcess } from "../../support/service_process.ts";
import { utf8 } from "../../support/utf8.ts";
import { TempStore } from "../../support/temp_store.ts";

const testProcess = testNeeding(PROCESSES);

/** A test of the command with a temporary folder. */
function test(name: string, run: (folder: string) => Promise<void>): void {
  testProcess(name, async () => {
    await using store = await TempStore.make();
    await run(store.folder);
  });
}

/** Deno KV's name for the encoding of a value that is bytes. */
const BYTES = 3;

function encodingsOf(kvPath: string): unknown[] {
  using database = new DatabaseSync(kvPath, { readOnly: true });
  const rows = database.prepare("select distinct v_encoding from kv").all();
  return rows.map(({ v_encoding }) => v_encoding);
}

test("restore: - reads standard input, and a refused export creates no store", async (folder) => {
  const lines = sampleLog(50);
  const kvPath = `${folder}/pets.sqlite3`;
  const [stdin, gapped] = [lines, lines.toSpliced(20, 1)].map(linesToBytes);
  const gap =
    /^error: Line 21: its sequence says position 22, but 21 was expected; lines are missing .* with --to; --to 20 restores the lines before it\n$/;
  await expectTaskFails(1, gap, ["restore", "-"], { kvPath, stdin: gapped });
  assertEquals(await Array.fromAsync(Deno.readDir(folder)), []);

  await expectTask(["restore", "-"], { kvPath, stdin });
  assertEquals(await expectTask(["log"], { kvPath }), new TextDecoder().decode(stdin));
  // V8's encoding of other values differs between runtimes.
  assertEquals(encodingsOf(kvPath), [BYTES]);
  const isFull = /^error: The store already holds a log/m;
  await expectTaskFails(2, isFull, ["restore", "-"], { kvPath, stdin });
});

test("restore and audit end at the beginning of a file that is no export, also if it never ends", async (folder) => {
  const kvPath = `${folder}/pets.sqlite3`;
  const file = `${folder}/export.jsonl`;
  const cases: [path: string, content: string | undefined, restored: RegExp, audited: RegExp][] = [
    [file, "Dear Ann\n".repeat(1_000_000), /^error: Line 1: .* not JSON/, /it has no event/],
    ["/dev/zero", undefined, /^error: Line 1: The line is longer/, /it has no event/],
  ];
  for (const [path, content, restored, audited] of cases) {
    if (content !== undefined) await Deno.writeTextFile(file, content);
    await expectTaskFails(1, restored, ["restore", path], { kvPath });
    const { code, stdout } = await runTask(["audit", "--file", path], { kvPath });
    assertEquals(code, 1);
    assertMatch(stdout, audited);
  }
});

test("restore names the program that has changed an export, and the command that repairs it", async (folder) => {
  const kvPath = `${folder}/pets.sqlite3`;
  const text = `${sampleLog(20).join("\n")}\n`;
  const cases: [changed: Uint8Array, cause: string, command: string][] = [
    [utf8(`\ufeff${text}`), "begins with a byte order mark (BOM)", "LC_ALL=C grep"],
    [utf8(text.replaceAll("\n", "\r\n")), "ends with a carriage return (CRLF)", "LC_ALL=C grep"],
    [Buffer.from(`\ufeff${text}`, "utf16le"), "is in UTF-16", "iconv -f UTF-16 -t UTF-8 EXPORT"],
  ];
  for (const [stdin, cause, command] of cases) {
    const said = new RegExp(
      `^error: Line 1 ${RegExp.escape(`${cause}: an editor`)}.*${command}.*\n$`,
    );
    await expectTaskFails(1, said, ["restore", "-"], { kvPath, stdin });
  }
  await expectTask(["restore", "-"], { kvPath, stdin: utf8(text.trimEnd()) });
});

test("restore: an export or a store that cannot be used exits 2 and says why", async (folder) => {
  const kvPath = `${folder}/pets.sqlite3`;
  const cases: [string[], string, RegExp][] = [
    [["restore"], kvPath, /An export is required/],
    [["restore", `${folder}/none`], kvPath, /^error: \S+\/none does not exist\n$/],
    [["restore", folder], kvPath, /^error: \S+ is a folder, not a file\n$/],
    // The export would be refused too, but the store is checked first.
    [
      ["restore", "-"],
      `${folder}/none/pets.sqlite3`,
      /^error: Cannot open .* its folder does not exist/,
    ],
    [["restore", "-"], ":memory:", /KV_PATH must not be :memory:, .*; set it to a new file\n$/],
  ];
  for (const [args, path, words] of cases) await expectTaskFails(2, words, args, { kvPath: path });
});

const LINES = sampleLog(50, Date.now() - 3_600_000);

/** The text of lines, as `deno task log` prints it. */
function textOf(lines: string[]): string {
  return new TextDecoder().decode(linesToBytes(lines));
}

test("restore: --to restores the beginning, and names the keys and the ids that it sets back", async (folder) => {
  const kvPath = `${folder}/pets.sqlite3`;
  const [revoked, later] = [31, 41].map((position) => JSON.parse(LINES[position - 1]).id);
  // What follows the position may be damaged.
  const stdin = linesToBytes([...LINES.slice(0, 45), "{", ...LINES.slice(46)]);
  const { code, stderr } = await runTask(["restore", "--to", "40", "-"], { kvPath, stdin });
  assertEquals(code, 0, stderr);
  const end = JSON.parse(LINES[41]).data.effectiveAt;
  const ids = LINES.filter((line) => line.includes('"PetCreated"')).map((line) => JSON.parse(line));
  const first = ids.find(({ sequence }) => Number(sequence) > 40).data.id;
  for (
    const sentence of [
      "Restored 40 events in ",
      `Key ${revoked} (key 31) is valid again: its revocation with effect from ${end} is left out.\n`,
      `Key ${later} (key 41) is refused: its issue is left out.\n`,
      `New animals get the ids from ${first} to ${ids.at(-1).data.id} a second time.\n`,
      "Only the lines up to position 40 are those of the export. Checkpoints, backups, proofs and followers",
    ]
  ) assertStringIncludes(stderr, sentence);
  assertEquals(await expectTask(["log"], { kvPath }), textOf(LINES.slice(0, 40)));
  assertMatch(await expectTask(["audit"], { kvPath }), /^Sound: 40 events/m);
});

test("restore: --to the last position is a plain restore, and beyond it nothing is written", async (folder) => {
  const kvPath = `${folder}/pets.sqlite3`;
  const stdin = linesToBytes(LINES);
  const beyond = /^error: The export ends at position 50, before 51\n$/m;
  await expectTaskFails(1, beyond, ["restore", "--to", "51", "-"], { kvPath, stdin });
  assertEquals(await Array.fromAsync(Deno.readDir(folder)), []);
  const { code, stderr } = await runTask(["restore", "--to", "50", "-"], { kvPath, stdin });
  assertEquals([code, stderr.includes("Only the lines")], [0, false]);
  const { time } = JSON.parse(LINES[49]);
  const revoked = `The export ends at ${time}. A key that was revoked later is valid again: `;
  assertMatch(
    stderr,
    RegExp(`^${revoked}revoke it \\(deno task keys revoke ID\\) before .*\n$`, "m"),
  );
  const both = /--to and --until cannot be used together/;
  await expectTaskFails(2, both, ["restore", "--to", "1", "--until", "1h", "-"], { kvPath, stdin });
});

test("restore: --until ends before the first event that is not before the time, and says where, also if clocks differ", async (folder) => {
  const kvPath = `${folder}/pets.sqlite3`;
  const timeOf = (position: number) => JSON.parse(LINES[position - 1]).time;
  // The writer of line 18 had a clock that was ahead of the others.
  const ahead = LINES[17].replace(timeOf(18), timeOf(48));
  const stdin = linesToBytes(rewritten(LINES, 17, ahead));
  const args = ["restore", "--until", timeOf(20), "-"];
  const { code, stderr } = await runTask(args, { kvPath, stdin });
  assertEquals(code, 0, stderr);
  const end = `The log ends at position 17, because the next event is of ${timeOf(48)}.`;
  const left = `The events after it that are before ${timeOf(20)} are left out, too (1): `;
  assertStringIncludes(stderr, `${end}\n${left}`);
  assertEquals(await expectTask(["log"], { kvPath }), textOf(LINES.slice(0, 17)));

  const early = ["restore", "--until", "2020-01-01", "-"];
  await expectTaskFails(1, /^error: The first event is of \S+, not before 2020-01-01T/, early, {
    kvPath: `${folder}/other.sqlite3`,
    stdin,
  });
});

test("restore and log take the same events before a time, also that of an event", async (folder) => {
  const stdin = linesToBytes(LINES);
  const kvPath = `${folder}/pets.sqlite3`;
  await expectTask(["restore", "-"], { kvPath, stdin });
  const { time } = JSON.parse(LINES[19]);
  const restored = { kvPath: `${folder}/earlier.sqlite3` };
  await expectTask(["restore", "--until", time, "-"], { ...restored, stdin });
  const log = await expectTask(["log"], restored);
  assertEquals(log, await expectTask(["log", "--until", time], { kvPath }));
  assertEquals([log.includes(time), log.split("\n").length > 10], [false, true]);
});

test("erase is restore with --redact: the new store has the data of its subjects nowhere", async (folder) => {
  const stdin = linesToBytes(LINES);
  const subject = LINES.map((line) => JSON.parse(line).subject).find((it) =>
    it.startsWith("pets/")
  );
  const [erased, redacted] = ["erased", "redacted"].map((name) => `${folder}/${name}.sqlite3`);
  const options = { kvPath: erased, stdin };
  await expectTaskFails(2, /^error: --subject is required: /, ["erase", "-"], options);
  await expectTaskFails(
    2,
    /--subject takes .*pets\/7 or/,
    ["erase", "--subject", "7", "-"],
    options,
  );
  assertEquals(await Array.fromAsync(Deno.readDir(folder)), []);
  const { code, stderr } = await runTask(["erase", "--subject", subject, "-"], options);
  assertEquals(code, 0, stderr);
  assertMatch(stderr, RegExp(`^Replaced the personal data of ${subject} in `, "m"));
  await expectTask(["restore", "--redact", subject, "-"], { kvPath: redacted, stdin });
  const log = await expectTask(["log"], { kvPath: erased });
  assertEquals(log, await expectTask(["log"], { kvPath: redacted }));
  assertStringIncludes(log, '"(removed)"');
});

test("restore: --redact erases names and labels, and says what that ends", async (folder) => {
  const [kvPath, file] = [`${folder}/old.sqlite3`, `${folder}/log.jsonl`];
  const issue = ["keys", "issue", "--label", "Erika Muster"];
  const token = (await expectTask(issue, { kvPath })).trim();
  const once = { "idempotency-key": "once" };
  const twice = { "idempotency-key": "twice" };
  const erika = { name: "Erika's Rex", categoryId: 7 };
  let lastEventId = "";
  {
    await using service = await ServiceProcess.start(kvPath);
    const client = service.client(token);
    assertEquals(await service.add({ name: "Minka", categoryId: 8 }, token), 201);
    assertEquals(await service.add(erika, token, once), 201);
    for (const patch of [{ name: "Erika's Max" }, { status: "sold" }]) {
      assertEquals((await (await client.change(2, patch)).json()).id, 2);
    }
    assertEquals(await service.add({ name: "Erika's Tom", categoryId: 7 }, token), 201);
    assertEquals((await client.remove(3, twice)).status, 204);
    const events = await (await client.send("/v1/events")).json();
    lastEventId = events.at(-1).id;
    assertEquals(await service.stop(), 0);
  }
  await Deno.writeTextFile(file, await expectTask(["log"], { kvPath }));
  const checkpoint = ["--checkpoint", `${folder}/checkpoint.json`];
  await expectTask(["audit", ...checkpoint], { kvPath });
  const keyId = JSON.parse((await Deno.readTextFile(file)).split("\n")[0]).id;
  const store = { kvPath: `${folder}/new.sqlite3` };
  const unknown = /^error: No event has personal data of pets\/9\n$/m;
  await expectTaskFails(1, unknown, ["restore", "--redact", "pets/9", file], store);
  const wrong = /--redact takes .*pets\/7 or keys\/\w{26} or .*, not "7"/;
  await expectTaskFails(2, wrong, ["restore", "--redact", "7", file], store);
  const redact = [
    "restore",
    "--redact",
    "pets/2",
    "--redact",
    "pets/3",
    "--redact",
    `keys/${keyId}`,
    file,
  ];
  const { code, stderr } = await runTask(redact, store);
  assertEquals(code, 0, stderr);
  for (
    const sentence of [
      "Replaced the personal data of pets/2 in 3 events.\n",
      "Replaced the personal data of pets/3 in 2 events.\n",
      `Replaced the personal data of keys/${keyId} in 1 event.\n`,
      "No line is one of the export. Checkpoints, backups, proofs and followers that have seen a later",
      "The old store, its backups and its exports still have the data.",
      "with the Idempotency-Key of such an event and the erased text gets 409; a removal gets 204.",
    ]
  ) assertStringIncludes(stderr, sentence);

  assertMatch(await expectTask(["audit"], store), /^Sound: 7 events, 2 pets\./m);
  const log = await expectTask(["log"], store);
  assertEquals(log.includes("Erika"), false);
  assertStringIncludes(log, '"name":"Minka"');
  assertMatch(await expectTask(["keys", "list"], store), /^\w{26} .* \(removed\)\n/m);

  // What the command says that it ends.
  assertEquals((await runTask(["audit", ...checkpoint], store)).code, 1);
  const otherLog =
    /^error: The file has another event at position 7 than the log: it is of another/;
  await expectTaskFails(1, otherLog, ["backup", file], store);
  await using service = await ServiceProcess.start(store.kvPath);
  const client = service.client(token);
  const pet = await (await client.send("/v1/pets/2")).json();
  assertEquals(pet, { id: 2, name: "(removed) 2", categoryId: 7, status: "sold" });
  const retry = await client.add(erika, once);
  assertEquals([retry.status, (await retry.json()).code], [409, "idempotency_key_reused"]);
  const removal = await client.remove(3, twice);
  assertEquals([removal.status, removal.headers.get("idempotency-replayed")], [204, "true"]);
  const headers = { "last-event-id": lastEventId };
  const events = await client.send("/v1/events", { headers });
  assertEquals([events.status, (await events.json()).code], [410, "feed_reset"]);
});
