import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type Outcome, runTask } from "../../support/run_task.ts";
import { type SampleFile, withSampleFile } from "../../support/sample_file.ts";
import { linesToBytes } from "../../support/sample_log.ts";
import { TempStore } from "../../support/temp_store.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";

const test = testNeeding(PROCESSES);

export const ORIGIN = ["--origin", "log.shop.example/pets"];

/** A store of 40 events, and a folder apart from it with a key and the first 30 events as published. */
export interface PublishedSample extends SampleFile {
  key: string;
  dir: string;
  /** Runs a command. Its outcome lacks the progress of a publication. */
  run: (...args: string[]) => Promise<Outcome>;
  /** Publishes an export of these lines. */
  publish: (lines: string[], dir: string, ...args: string[]) => Promise<Outcome>;
  /** Asserts that a command exits with that code, and with one line on standard error. */
  refuses: (code: number, message: string, ...args: string[]) => Promise<Outcome>;
}

/** Registers a test with a published sample. */
export function testPublished(name: string, use: (sample: PublishedSample) => Promise<void>): void {
  test(name, () => withPublished(use));
}

export async function withPublished(
  use: (sample: PublishedSample) => Promise<void>,
): Promise<void> {
  await withSampleFile(async (sample) => {
    await using temp = await TempStore.make();
    const { folder } = temp;
    const [key, dir, exported] = ["log.key", "published", "export"].map((it) => `${folder}/${it}`);
    const run = async (...args: string[]) => {
      const outcome = await runTask(args, { kvPath: sample.kvPath });
      return { ...outcome, stderr: outcome.stderr.replace(/^Publishing: .*\n/gm, "") };
    };
    const publish: PublishedSample["publish"] = async (lines, dir, ...args) => {
      await Deno.writeFile(exported, linesToBytes(lines));
      return await run("publish", dir, "--key", key, "--file", exported, ...args);
    };
    const refuses: PublishedSample["refuses"] = async (code, message, ...args) => {
      const outcome = await run(...args);
      assertEquals([outcome.code, outcome.stdout], [code, ""], outcome.stderr);
      assertMatch(outcome.stderr, /^error: [^\n]+\n$/);
      assertStringIncludes(outcome.stderr, message);
      return outcome;
    };
    assertEquals((await run("publish", "--new-key", key)).code, 0);
    const { code, stderr } = await publish(sample.lines.slice(0, 30), dir, ...ORIGIN);
    assertEquals(code, 0, stderr);
    await use({ ...sample, folder, key, dir, run, publish, refuses });
  });
}

/** The contents of all files below a folder, in hex, by their paths. */
export async function filesIn(folder: string, below = ""): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for await (const { name, isDirectory } of Deno.readDir(`${folder}${below}`)) {
    const path = `${below}/${name}`;
    if (isDirectory) Object.assign(files, await filesIn(folder, path));
    else files[path] = (await Deno.readFile(`${folder}${path}`)).toHex();
  }
  return files;
}
