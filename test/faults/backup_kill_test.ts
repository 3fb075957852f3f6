import { assert, assertEquals, assertGreater, assertLess, assertMatch } from "@std/assert";
import { LINE_FEED } from "../../src/encoding/pack_lines.ts";
import { LoadClient } from "../support/load_client.ts";
import { permitted } from "../support/permitted.ts";
import { runTask, spawnScript } from "../support/run_task.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";

const KILLS = 20;

Deno.test({
  name: "a backup that follows under load is complete after twenty kill -9, and can be restored",
  ignore: !permitted("env", "net", "read", "run", "write"),
  async fn() {
    await using temp = await TempStore.make();
    const token = await temp.issueKey();
    await using service = await ServiceProcess.start(temp.kvPath);
    const file = `${temp.folder}/pets.jsonl`;
    const load = new LoadClient({
      services: () => [service],
      token,
      connections: 16,
      faults: "none",
    });
    let isOver = false;
    const running = load.run(() => isOver);
    const sizes: number[] = [];
    try {
      for (let kill = 0; kill < KILLS; kill++) {
        const process = spawnScript("backup", [file, "--follow"], temp.kvPath);
        const output = process.output();
        await grown(file, sizes.at(-1) ?? 0);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 300));
        process.kill("SIGKILL");
        const { signal, stdout, stderr } = await output;
        assertEquals(signal, "SIGKILL", new TextDecoder().decode(stderr));
        sizes.push((await Deno.stat(file)).size);
        await assertHasReported(file, new TextDecoder().decode(stdout));
        // A kill within a write(2) leaves a part of it, but is too rare to wait for.
        if (kill % 3 === 2) await Deno.truncate(file, sizes.at(-1)! - 1 - kill);
      }
    } finally {
      isOver = true;
      await running;
    }
    const { code, stderr } = await runTask(["backup", file], temp);
    assertEquals(code, 0, stderr);
    const log = (await runTask(["log"], temp)).stdout;
    assertEquals(await Deno.readTextFile(file), log);
    assertGreater(log.split("\n").length, load.acknowledged.size);

    const kvPath = `${temp.folder}/copy.sqlite3`;
    assertEquals((await runTask(["restore", file], { kvPath })).code, 0);
    assertMatch((await runTask(["audit"], { kvPath })).stdout, /^Sound: /);
    assertEquals((await runTask(["log"], { kvPath })).stdout, log);
  },
});

/** Resolves when the file is longer than that. */
async function grown(file: string, size: number): Promise<void> {
  const start = performance.now();
  for (;;) {
    const stat = await Deno.stat(file).catch(() => undefined);
    if (stat !== undefined && stat.size > size) return;
    assertLess(performance.now() - start, 60_000, "the backup did not grow");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Asserts that a killed backup has in its file all that it had reported, and at most one line more is torn. */
async function assertHasReported(file: string, stdout: string): Promise<void> {
  const reports = stdout.split("\n").slice(0, -1).map((line) => JSON.parse(line));
  const bytes = await Deno.readFile(file);
  const lines = new TextDecoder()
    .decode(bytes.subarray(0, bytes.lastIndexOf(LINE_FEED)))
    .split("\n");
  lines.forEach((line, index) => assertEquals(Number(JSON.parse(line).sequence), index + 1));
  assert(reports.length > 0);
  assert(lines.length >= reports.at(-1)!.position);
}
