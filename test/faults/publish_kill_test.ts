import { assert, assertEquals } from "@std/assert";
import { readSigningKey } from "../../scripts/publish/signing_key.ts";
import { publishLog } from "../../scripts/publish/publish_log.ts";
import { MemoryFolder } from "../scripts/publish/memory_folder.ts";
import { permitted } from "../support/permitted.ts";
import { spawnScript } from "../support/run_task.ts";
import { linesToBytes, sampleLog } from "../support/sample_log.ts";

const KILLS = 20;

/** Number of events that each run adds: some hundred files with their bundles. */
const EVENTS_EACH = 9_001;

const ORIGIN = "log.example";

Deno.test({
  name: "a folder verifies after each of twenty kill -9 of publish",
  ignore: !permitted("env", "net", "read", "run", "write"),
  async fn() {
    const folder = await Deno.makeTempDir();
    const [dir, key, exported] = ["published", "log.key", "pets.jsonl"].map((it) =>
      `${folder}/${it}`
    );
    const publish = (...args: string[]) =>
      spawnScript("publish", args, `${folder}/store/pets.sqlite3`);
    const args = [dir, "--key", key, "--origin", ORIGIN, "--entries", "--from-file", exported];
    try {
      await publish("--new-key", key).output();
      const lines = sampleLog(5 * EVENTS_EACH);
      // The time of a whole run bounds the moments of the kills.
      let wholeMs = 1_000;
      let kills = 0;
      let interrupted = 0;
      for (let attempt = 0; kills < KILLS; attempt++) {
        assert(attempt < 3 * KILLS, `only ${kills} processes were killed in ${attempt} runs`);
        const size = await publishedSize(dir);
        const log = lines.slice(0, Math.min(lines.length, (size ?? 0) + EVENTS_EACH));
        await Deno.writeFile(exported, linesToBytes(log));
        const start = performance.now();
        const process = publish(...args);
        const output = process.output();
        const timer = setTimeout(
          () => process.kill("SIGKILL"),
          wholeMs * (0.1 + 0.9 * Math.random()),
        );
        const { signal } = await output;
        clearTimeout(timer);
        if (signal === "SIGKILL") {
          kills++;
          if (await publishedSize(dir) === size) interrupted++;
        } else wholeMs = performance.now() - start;
        await assertVerifies(dir, lines, key);
        // From the first event again, when the whole log is published.
        if (await publishedSize(dir) === lines.length) await Deno.remove(dir, { recursive: true });
      }
      assert(interrupted > 0);
      const { code, stderr } = await publish(...args).output();
      assertEquals(code, 0, new TextDecoder().decode(stderr));
      await assertVerifies(dir, lines, key);
      const names = Array.from(Deno.readDirSync(dir), ({ name }) => name).sort();
      assertEquals(names, ["checkpoint", "log.vkey", "tile"]);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

async function publishedSize(dir: string): Promise<number | undefined> {
  try {
    return Number((await Deno.readTextFile(`${dir}/checkpoint`)).split("\n")[1]);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Asserts that the folder has every file of the log that its checkpoint signs. */
async function assertVerifies(dir: string, lines: string[], keyPath: string): Promise<void> {
  const size = await publishedSize(dir);
  if (size === undefined) return;
  const expected = new MemoryFolder();
  const encoder = new TextEncoder();
  await publishLog({
    folder: expected,
    readLines: async function* () {
      yield await Promise.resolve(lines.slice(0, size).map((line) => encoder.encode(line)));
    },
    signer: { name: ORIGIN, privateKey: await readSigningKey(keyPath) },
  }, { entries: true });
  // A kill can leave a folder without the key, which is written last and once.
  expected.files.delete("log.vkey");
  for (const [path, content] of expected.files) {
    assertEquals(await Deno.readFile(`${dir}/${path}`), content, path);
  }
}
