import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { logKey } from "../../../src/eventstore_less/keyspace.ts";
import { linesOf, RECORD_LINES_LIMIT } from "../../../src/eventstore_less/log/read_log.ts";
import { SqliteReader } from "../../../src/eventstore_less/store/sqlite/sqlite_reader.ts";
import { StoreDamagedError } from "../../../src/eventstore_less/store/store_errors.ts";
import { followAdvice } from "../../support/follow_advice.ts";
import { overwritePage, PAGE_BYTES } from "../../support/overwrite_page.ts";
import { runTask } from "../../support/run_task.ts";
import { linesToBytes, sampleLog } from "../../support/sample_log.ts";
import { writeLog } from "../../support/sample_store.ts";
import { TempStore } from "../../support/temp_store.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { withProjectCopy } from "../../support/with_project_copy.ts";
import { BASH } from "../run_redirected.ts";

const EVENTS = 300;
const BACKED_UP = 100;

/** Every so many pages, one is damaged. */
const PAGES_STEP = 10;

testNeeding(PROCESSES, BASH)(
  "After damage of a page, the printed advice loses no line that can be read, and ends with a sound store",
  async () => {
    await using temp = await TempStore.make();
    const { kvPath } = temp;
    const lines = sampleLog(EVENTS, Date.now());
    await temp.use(({ store, runtime }) => writeLog(store, runtime, lines));
    const database = new DatabaseSync(kvPath);
    database.exec("pragma wal_checkpoint(truncate)");
    database.close();
    const pages = (await Deno.stat(kvPath)).size / PAGE_BYTES;
    const waiting = Array.from({ length: pages }, (_, page) => page)
      .filter((page) => page % PAGES_STEP === 0);
    let afterGaps = 0;
    let continued = 0;
    const work = async (project: string) => {
      const damaged = `${project}/store.sqlite3`;
      for (let page = waiting.shift(); page !== undefined; page = waiting.shift()) {
        for (const name of ["-wal", "-shm"]) await Deno.remove(damaged + name).catch(() => {});
        await Deno.copyFile(kvPath, damaged);
        overwritePage(damaged, page);
        const backup = linesToBytes(lines.slice(0, BACKED_UP));
        await Deno.writeFile(`${project}/BACKUP`, backup);
        const audited = await runTask(["audit"], { kvPath: damaged });
        // A page that is free, or that no audit reads.
        if (audited.code === 0) continue;
        const readable = await readablePositions(damaged);
        const output = await followAdvice(audited.stdout, project, damaged);
        const textOf = (name: string) => {
          const [file] = RegExp(`${name}-[\\d-]+\\.jsonl`).exec(audited.stdout)!;
          return Deno.readTextFile(`${project}/${file}`);
        };

        // The advice audits the backup with what continues it, and the restored store.
        const verdicts = output.match(/^(Sound|Not sound): /gm);
        assertEquals(verdicts, ["Sound: ", "Sound: "], `page ${page}: ${output}`);
        const restored = textLines(await textOf("recovered"));
        assertEquals(restored, lines.slice(0, restored.length));
        let expected = BACKED_UP;
        while (readable.has(expected + 1)) expected++;
        assert(
          restored.length >= expected,
          `page ${page}: ${restored.length} of ${expected} lines`,
        );
        if (expected > BACKED_UP) continued++;
        const evidence = new Set(textLines(await textOf("evidence")));
        for (const position of readable) {
          const isKept = position <= restored.length || evidence.has(lines[position - 1]);
          assert(isKept, `page ${page}: line ${position} is lost: ${output}`);
          if (position > restored.length) afterGaps++;
        }
      }
    };
    await Promise.all([withProjectCopy(work), withProjectCopy(work)]);
    assert(continued > 5 && afterGaps > 0, `${continued} continued, ${afterGaps} lines after gaps`);
  },
);

/** The positions of the lines that a raw read of a file gives, each with a read of its own. */
async function readablePositions(path: string): Promise<Set<number>> {
  const positions = new Set<number>();
  try {
    using reader = new SqliteReader(path);
    for (let position = 1; position <= EVENTS; position++) {
      const range = { start: logKey(position), end: logKey(position + RECORD_LINES_LIMIT) };
      try {
        const [entry] = await reader.list(range, { limit: 1 });
        const found = entry && linesOf(entry)?.some((line) => line.position === position);
        if (found) positions.add(position);
      } catch (error) {
        if (!(error instanceof StoreDamagedError)) throw error;
      }
    }
  } catch (error) {
    if (!(error instanceof StoreDamagedError)) throw error;
  }
  return positions;
}

function textLines(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}
