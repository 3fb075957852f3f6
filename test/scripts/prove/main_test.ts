import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { linesToBytes, rewritten } from "../../support/sample_log.ts";
import { ORIGIN, testPublished as test } from "../publish/with_published.ts";

test("prove: prints a proof of the newest event of a pet, of a key and of a position, and writes exactly the line", async (sample) => {
  const { folder, dir, lines, run } = sample;
  const checkpoint = await Deno.readTextFile(`${dir}/checkpoint`);
  const path = `${folder}/line`;
  const subjectOf = (index: number): string => JSON.parse(lines[index]).subject;
  const cases: [index: number, what: string, earlier?: number][] = [
    [5, "pets/4"],
    [14, "pets/1", 10],
    [21, subjectOf(21), 11],
    [13, "14"],
  ];
  for (const [index, what, earlier] of cases) {
    const { stdout, stderr } = await run("prove", what, "--published", dir, "--line", path);
    assertMatch(stdout, /^c2sp\.org\/tlog-proof@v1\nindex \d+\n([0-9A-Za-z+/]{43}=\n){3,5}\n/);
    assertStringIncludes(stdout, `\nindex ${index}\n`);
    assertEquals(stdout.slice(stdout.indexOf("\n\n") + 2), checkpoint);
    assertEquals(await Deno.readTextFile(path), lines[index]);
    const newest = `Line ${index + 1} is the newest event of ${what}\\.`;
    const hint = earlier && `${newest}.* its position, ${earlier}, instead of ${what}\n`;
    const proved = "Proved line \\d+ \\(\\w+ (pets|keys)/\\w+\\) in the published log of 30 ";
    assertMatch(stderr, new RegExp(`^${hint ?? ""}${proved}`));
  }
});

test("prove: what cannot be proved exits 1 with one line, wrong arguments exit 2, and --consistency proves", async (sample) => {
  const { folder, dir, lines, publish, refuses, run } = sample;
  const old = `${folder}/old`;
  const [forked, text] = [`${folder}/forked`, `${folder}/text`];
  await Deno.copyFile(`${dir}/checkpoint`, old);
  await publish(rewritten(lines, 5, lines[5].replace("Zoë", "Zoé")), forked, ...ORIGIN);
  await Deno.writeTextFile(text, "no checkpoint\n");
  const from = ["--published", dir];
  const fromFork = ["--published", forked];
  for (
    const [code, message, ...args] of [
      [1, "Position 40 is not published yet: the published log has 30 events", "40", ...from],
      [1, "The log has no event about pets/4711", "pets/4711", ...from],
      // Its newest event.
      [1, "Position 38 is not published yet", "pets/17", ...from],
      [1, "Line 12 of the log is not the one", "12", ...fromFork],
      [1, "does not extend the checkpoint of 30", "--consistency", old, ...fromFork],
      [1, "The older checkpoint is not signed by the key", "--consistency", text, ...from],
      [1, "/dev/zero is not a regular file of at most", "--consistency", "/dev/zero", ...from],
      [2, "nothing is published", "pets/7", "--published", folder],
      [
        2,
        "pets/7, keys/01KA7Z9MZ4QH4C4P5R4Z2Y0V7B, categories/7, webhooks/01KA7Z9MZ4QH4C4P5R4Z2Y0V7B nor a position",
        "pet/7",
        ...from,
      ],
    ] as const
  ) await refuses(code, message, "prove", ...args);
  await publish(lines, dir);
  assertEquals(await run("prove", "--consistency", old, ...from), {
    code: 0,
    stdout:
      "The published log of 40 events extends the checkpoint of 30: nothing before it was changed or removed.\n",
    stderr: "",
  });
  await Deno.remove(`${dir}/tile/0/000.p`, { recursive: true });
  await refuses(1, "The published folder lacks tile/0/000.p/40", "prove", "7", ...from);
});

test("audit --published: proves the log against what was published, and reports what differs", async (sample) => {
  const { folder, dir, lines, refuses, run } = sample;
  const sound = await run("audit", "--published", dir);
  assertEquals(sound.code, 0);
  assertMatch(sound.stdout, /^The log extends the published log of 30 events\.$/m);
  const exported = `${folder}/export.jsonl`;
  const faultOf = async (some: string[]) => {
    await Deno.writeFile(exported, linesToBytes(some));
    const { code, stdout } = await run("audit", "--json", "--published", dir, "--file", exported);
    const { counts, faults } = JSON.parse(stdout);
    assertEquals([code, counts], [1, { published: 1 }]);
    return faults[0];
  };
  assertEquals(await faultOf(rewritten(lines, 5, lines[5].replace("Zoë", "Zoé"))), {
    kind: "published",
    position: 6,
    message: "Line 6 of the log is not the one that was published",
  });
  assertEquals(await faultOf(lines.slice(0, 29)), {
    kind: "published",
    message: "The log ends at position 29, but the published log has 30 events",
  });
  await Deno.remove(`${dir}/checkpoint`);
  const message = "The folder has no checkpoint: nothing is published";
  await refuses(2, message, "audit", "--published", dir);
});
