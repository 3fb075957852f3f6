/** A reader that ends early, as in `deno task audit | true`, changes no exit code. */

import { petKey } from "../../src/animals/pet_keys.ts";
import { assertEquals, assertMatch } from "@std/assert";
import { projectionKey } from "../../src/eventstore_less/keyspace.ts";
import { IS_ON_NODE } from "../support/programs.ts";
import { PROCESSES, testNeeding } from "../support/test_needing.ts";
import { BASH, runRedirected } from "./run_redirected.ts";
import { runTask } from "../support/run_task.ts";
import { changeFile, withSampleFile } from "../support/sample_file.ts";

const test = testNeeding(PROCESSES, BASH);

test("closed standard output or error: every tool has the same exit code and data as with a reader", () =>
  withSampleFile(async ({ folder, kvPath }) => {
    const checkpoint = `${folder}/checkpoint.json`;
    const sound = ["audit", "--json", "--checkpoint", checkpoint];
    for (const args of [sound, ["start", "--help"], ["log"]]) {
      const { code, stderr } = await runRedirected(args, "1>&3", kvPath);
      assertEquals([args, code, stderr.includes("error")], [args, 0, false]);
    }
    assertEquals(JSON.parse(await Deno.readTextFile(checkpoint)).position, 40);
    await changeFile(kvPath, [{ type: "delete", key: projectionKey(1, petKey("sold", 10)) }]);
    assertEquals((await runRedirected(["audit"], "1>&3", kvPath)).code, 1);
    const cases: [args: string[], code: number, stdout: RegExp][] = [
      [["audit"], 1, /^Not sound: 1 fault /],
      [["replay", "--grace", "0"], 0, /^$/],
      [["keys", "issue", "--label", "x"], 0, /^pets_[0-9a-f]{72}\n$/],
      [["start", "--colour"], 2, /^$/],
    ];
    for (const [args, code, words] of cases) {
      const outcome = await runRedirected(args, "2>&3", kvPath);
      assertEquals([args, outcome.code], [args, code]);
      assertMatch(outcome.stdout, words);
    }
  }));

const FULL = IS_ON_NODE ? "ENOSPC: no space left" : "No space left";

test("keys issue and keys rotate: a key that cannot be printed is not issued and replaces no key", () =>
  withSampleFile(async ({ kvPath }) => {
    await runTask(["keys", "issue", "--label", "shop"], { kvPath });
    const log = async () => (await runTask(["log"], { kvPath })).stdout;
    const before = await log();
    const keys = JSON.parse((await runTask(["keys", "list", "--json"], { kvPath })).stdout);
    const { id } = keys.find(({ label }: { label: string }) => label === "shop");
    const issue = ["issue", "--label", "x"];
    const closed = "standard output is closed";
    const cases: [args: string[], redirection: "1>&3" | "1>/dev/full", reason: string][] = [
      [issue, "1>&3", closed],
      [["rotate", id], "1>&3", closed],
    ];
    if (Deno.build.os === "linux") cases.push([issue, "1>/dev/full", FULL]);
    for (const [args, redirection, reason] of cases) {
      const { code, stderr } = await runRedirected(["keys", ...args], redirection, kvPath);
      const words = `error: The key could not be printed, so it was not issued: ${reason}`;
      assertEquals([code, stderr.slice(0, words.length)], [2, words]);
    }
    assertEquals(await log(), before);
  }));
