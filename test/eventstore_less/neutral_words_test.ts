/** The engine names nothing of an application: its operators read the words that the application gives. */

import { globSync } from "node:fs";
import { assert, assertEquals } from "@std/assert";
import { COMMANDS } from "../../scripts/commands.ts";
import { LogDamagedError } from "../../src/eventstore_less/log/read_log.ts";
import { OpenStoreError } from "../../src/eventstore_less/store/open_store_error.ts";
import {
  noStoreReason,
  olderFormatReason,
  StoreDamagedError,
} from "../../src/eventstore_less/store/store_errors.ts";
import type { StoreLocation } from "../../src/eventstore_less/store/store_location.ts";
import { setWords, words } from "../../src/eventstore_less/words.ts";
import { callCommandsBy } from "../../src/runtime/words.ts";
import { INTERNAL_VARIABLES, VARIABLES } from "../../src/settings/variables.ts";
import { permissions, testNeeding } from "../support/test_needing.ts";

const FOLDER = new URL("../../src/eventstore_less/", import.meta.url);

/** Words that everybody uses, and the variables that a package of the engine reads. */
const OF_EVERYBODY = /^(PORT|HOST|DENO_\w+)$/;

const variables = [...Object.keys(VARIABLES), ...Object.keys(INTERNAL_VARIABLES)]
  .filter((name) => !OF_EVERYBODY.test(name));
const flags = Object.values(COMMANDS)
  .flatMap((command) => Object.keys(command.flags ?? {}))
  .map((flag) => flag.split(" ")[0]);

/** What only the animal store or its repository has. */
const FOREIGN = [
  new RegExp(String.raw`\b(?:${variables.join("|")})\b`),
  new RegExp(String.raw`(?<![\w-])(?:${[...new Set(flags)].join("|")})(?![\w-])`),
  /\bcommandName\b|\bdeno task\b|\bnode \S+\.mjs\b|\bkeys issue\b/,
  /\b(?:[Aa]nimals?|[Cc]ategor(?:y|ies)|[Pp]ets?)\b|\b[Pp]et[A-Z]|\bPETS?\b/,
  /\brunbook\b|\bguides?\b|\/var\/lib\b|(?<![\w/.])(?:src|scripts|events|test)\//,
];

/** A file of PostgreSQL's repository. */
const PATH_OF_ANOTHER = "src/backend/utils/adt/arrayfuncs.c";

/** What is foreign in a source, with its line. */
function foreignIn(source: string): string[] {
  return source.replace(PATH_OF_ANOTHER, "").split("\n")
    .flatMap((line, index) =>
      FOREIGN.flatMap((pattern) => pattern.exec(line)?.slice(0, 1) ?? [])
        .map((found) => `${index + 1}: ${found}`)
    );
}

testNeeding(permissions("read"))(
  "No code, text or comment of the engine names a command, a variable, a path or a thing of the animal store",
  async () => {
    const files = globSync("**/*.{ts,js}", { cwd: FOLDER.pathname });
    assert(files.length > 100, `found only ${files.length} files`);
    const wrong: string[] = [];
    for (const file of files) {
      const source = await Deno.readTextFile(new URL(file, FOLDER));
      wrong.push(...foreignIn(source).map((found) => `${file}:${found}`));
    }
    assertEquals(wrong, []);
  },
);

Deno.test("A foreign word is found in each kind of text", () => {
  const foreign = [
    'super(`${fault}; run ${commandName("audit")}`);',
    'const advice = "run deno task audit";',
    "/** As `node animal-store.mjs audit` says. */",
    'const setting = "KV_PATH";',
    "// DATABASE_URL has it.",
    "set PGPASSWORD",
    "READS=strict",
    "audit it with --file BACKUP",
    "`urn:animal-store:pet-created` for `PetCreated`",
    "/** For example 3 pets. */",
    "the names of all categories",
    "see scripts/runbook.md",
    "see the guide of clients",
    'import { PETS } from "../../src/animals/pets.ts";',
    "cp recovered.jsonl /var/lib/service",
  ];
  for (const text of foreign) assert(foreignIn(`const a = 1;\n${text}\n`).length > 0, text);
  assertEquals(foreignIn(foreign[3]), ["1: KV_PATH"]);
  const own = ["reads.close();", "new Worker(--unstable-kv)", "HOST:PORT", "petty", "a catalog"];
  for (const text of own) assertEquals(foreignIn(text), [], text);
});

const FILE: StoreLocation = { kind: "file", path: "/srv/a", isDefault: false, link: "/srv/b" };

/** The messages that are made of each word. */
function messages(): Record<string, string> {
  const { lostHead, auditOf, serving, schema, grants, password, passfile, replay } = words();
  return {
    audit: new LogDamagedError(3, "is missing").message,
    damage: String(new StoreDamagedError("malformed").cause),
    makeStore: noStoreReason("it is empty"),
    exportLog: olderFormatReason("it has format 2"),
    setting: new OpenStoreError(FILE, "it is a folder").message,
    remote: new OpenStoreError({ kind: "kv_connect", address: "https://a" }, "no").message,
    rescue: `check the copy: ${auditOf("/srv/a.saved")}. If it is sound, ${
      serving("/srv/a.saved")
    }`,
    replay: `run ${replay}`,
    schema: `see ${schema}; see ${grants}`,
    password: `set ${password} or ${passfile}`,
    lostHead: lostHead(),
  };
}

Deno.test("Without words of an application, each message names what the engine itself has", () => {
  setWords({});
  assertEquals(messages(), {
    audit: "Position 3 of the log is missing; run an audit",
    damage: "malformed; run an audit",
    makeStore: "it is empty; if there should be data, correct the setting, or mount the disk of " +
      "the store; if not, make the store with the option create, or restore",
    exportLog: "it has format 2, of an older version; export it with that version (exportLog()), " +
      "then restore the export into a new store with this one",
    setting: "Cannot open the store /srv/a (/srv/b): it is a folder",
    remote: "Cannot open the store https://a: no",
    rescue:
      "check the copy: run an audit of /srv/a.saved. If it is sound, stop the service, and start it with /srv/a.saved as its store",
    replay: "run a replay",
    schema: "see createSchema(); see grantTo()",
    password: "set settings.password or settings.passfile",
    lostHead:
      "Stop the service, and run an audit with the value of checkpoint as its checkpoint. " +
      "If the log does not extend it, restore the newest backup that does into a new store, and let the service use that",
  });
});

Deno.test("The animal store gives its words, by which its operators call it", () => {
  try {
    callCommandsBy("pets");
    const all = Object.entries(messages())
      .map(([word, text]) => [word, text.replaceAll(/-\d{8}-\d{6}(?=\.)/g, "-TIME")]);
    assertEquals(Object.fromEntries(all), {
      audit: "Position 3 of the log is missing; run pets audit",
      damage: "malformed; run pets audit",
      makeStore: "it is empty; if there should be data, correct the setting, or mount the disk " +
        "of the store; if not, make the store with pets keys issue --label TEXT, or restore",
      exportLog: "it has format 2, of an older version; export it with that version " +
        "(pets log > /var/lib/animal-store/export-TIME.jsonl), then restore the export into a new store with this one",
      setting: "Cannot open the store /srv/a (KV_PATH: /srv/b): it is a folder",
      remote: "Cannot open the store https://a (KV_PATH): no",
      rescue:
        "check the copy: KV_PATH=/srv/a.saved pets audit. If it is sound, let the service use it: pets switch KV_PATH=/srv/a.saved",
      replay: "run pets replay",
      schema: "see pets schema; see pets schema --role",
      password: "set PGPASSWORD or PGPASSFILE",
      lostHead: "Stop the service. With the value of checkpoint in place of CHECKPOINT, run " +
        "echo 'CHECKPOINT' | install -o animal-store -g animal-store -m 600 /dev/stdin " +
        "/var/lib/animal-store/seen-TIME.json, then run pets audit --checkpoint " +
        "/var/lib/animal-store/seen-TIME.json, and follow its advice. If it is sound, start the service again",
    });
  } finally {
    setWords({});
  }
});
