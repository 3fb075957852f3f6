import { DatabaseSync } from "node:sqlite";
import { assertEquals, assertRejects } from "@std/assert";
import { expectSoundTables } from "../../../../src/eventstore_less/store/sqlite/expect_sound_tables.ts";
import { SqliteStore } from "../../../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import { StoreDamagedError } from "../../../../src/eventstore_less/store/store_errors.ts";
import { put } from "../../../support/store_contract.ts";
import { permissions, testNeeding } from "../../../support/test_needing.ts";
import { TempStore } from "../../../support/temp_store.ts";

const test = testNeeding(permissions("read", "write"));

const KEY = ["head"];

const impossibleIn = (table: string) =>
  `The table ${table} of Deno KV lacks its row, or has an impossible version`;
const missing = (column: string) => `The column ${column} of Deno KV is missing`;

/** Statements that damage a file, and what is found. */
const DAMAGES: Record<string, string[]> = {
  [impossibleIn("data_version")]: [
    "delete from data_version",
    "update data_version set k = 2",
    "update data_version set version = -1",
    "update data_version set version = 1.5",
    "update data_version set version = 'none'",
    "update data_version set version = 9223372036854775807",
  ],
  "A part of it is an older copy: its counter of versions is behind": [
    "update data_version set version = version - 1",
  ],
  [impossibleIn("migration_state")]: [
    "delete from migration_state",
    "update migration_state set k = 1",
    "update migration_state set version = 'none'",
  ],
  "Its tables have version 2 of Deno KV, not 3": ["update migration_state set version = 2"],
  "Its tables have version 4 of Deno KV, not 3": ["update migration_state set version = 4"],
  [missing("migration_state.k")]: ["drop table migration_state"],
  [missing("data_version.k")]: ["drop table data_version"],
  [missing("data_version.version")]: ["alter table data_version rename column version to number"],
  [missing("kv.k")]: ["drop table kv"],
  [missing("kv.expiration_ms")]: ["alter table kv rename column expiration_ms to expires"],
  [missing("queue.ts")]: ["drop table queue"],
  [missing("queue_running.deadline")]: ["drop table queue_running"],
  "A record has an impossible time of expiry": [
    "update kv set expiration_ms = 'none'",
    "update kv set expiration_ms = 1.5",
    "update kv set expiration_ms = 8210266876800000",
  ],
  "The queue of Deno KV has a message": ["insert into queue values ('none', '', '', '', '')"],
  "The queue of Deno KV has a message that is being delivered": [
    "insert into queue_running values (1, '', '', '', '')",
  ],
  "The version -1 is impossible": ["update kv set version = -1"],
  "The version none is impossible": ["update kv set version = 'none'"],
};

test("expectSoundTables() finds each lost table, column and row of Deno KV, and each impossible version", async () => {
  await using temp = await TempStore.make();
  const path = temp.kvPath;
  const sound = `${temp.folder}/sound.sqlite3`;
  const store = await SqliteStore.open(sound);
  await put(store, KEY, "text");
  store.close();
  await expectSoundTables(sound, [KEY, ["replay"]]);
  for (const [reason, statements] of Object.entries(DAMAGES)) {
    for (const statement of statements) {
      await Deno.copyFile(sound, path);
      {
        using database = new DatabaseSync(path);
        database.exec(statement);
      }
      const find = () => expectSoundTables(path, [KEY, ["replay"]]);
      const damage = await assertRejects(find, StoreDamagedError);
      assertEquals([statement, damage.reason], [statement, reason]);
    }
  }
});

test("expectSoundTables() accepts an empty file", async () => {
  await using temp = await TempStore.make();
  await Deno.writeTextFile(temp.kvPath, "");
  await expectSoundTables(temp.kvPath, [KEY]);
});
