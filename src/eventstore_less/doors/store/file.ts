/** Store files of SQLite: their tables, their damage, and the records in them that expire. */

export { checkFile } from "../../store/sqlite/check_file.ts";
export { expectSoundTables } from "../../store/sqlite/expect_sound_tables.ts";
export { type ExpiringRecord, SqliteReader } from "../../store/sqlite/sqlite_reader.ts";
export { SqliteStore } from "../../store/sqlite/sqlite_store.ts";
export { NO_WRITER } from "../../store/sqlite/sqlite_writer.ts";
export { expectFolder, isMissingFile, statOf, watchFile } from "../../store/sqlite/store_file.ts";
