import { redacted, verifyExport } from "../../support/tools.ts";
import { APPLICATION } from "../../../src/application.ts";
import { assert, assertEquals, assertGreater, assertRejects } from "@std/assert";
import { RefusedError } from "../../../src/eventstore_less/tools/refused_error.ts";
import { splitLines } from "../../../src/eventstore_less/log/lines.ts";
import { linesToBytes, sampleLog } from "../../support/sample_log.ts";

const LENGTH = 120;
const LINES = sampleLog(LENGTH);

const exportOf = (lines: string[]) => () => [linesToBytes(lines)].values() as never;

const original = await verifyExport(exportOf(LINES));

async function redact(lines: string[], subjects: string[]) {
  const replaced: number[] = [];
  const source = (note?: (event: { position: number }) => void) =>
    redacted(exportOf(lines), original.head, subjects, note);
  const noted = source(({ position }) => replaced.push(position));
  const batches = await Array.fromAsync(splitLines(noted));
  const decoder = new TextDecoder();
  return { source, replaced, lines: batches.flat().map((line) => decoder.decode(line)) };
}

const PERSONAL = APPLICATION.collections.flatMap(({ personal = [] }) => personal);

/** The members of a line, with another text for each personal one, and without the hash. */
function membersOf(line: string, textOf: (text: string) => string) {
  const { previoushash: _, data, ...members } = JSON.parse(line);
  return JSON.stringify({ ...members, data }, (name, value) => {
    return PERSONAL.includes(name) && value !== null ? textOf(value) : value;
  });
}

Deno.test("redacted() replaces the texts of any animal, key or category, and leaves a sound log with all else", async () => {
  const subjects = LINES.map((line) => JSON.parse(line).subject);
  for (const subject of new Set(subjects)) {
    const { source, replaced, lines } = await redact(LINES, [subject]);
    await verifyExport(() => source());
    const positions = LINES.flatMap((line, index) => {
      const { subject: other, data } = JSON.parse(line);
      const isReplaced = other === subject && PERSONAL.some((name) => data[name] !== undefined);
      return isReplaced ? [index + 1] : [];
    });
    assertEquals(replaced, positions);
    assertEquals(lines.slice(0, replaced[0] - 1), LINES.slice(0, replaced[0] - 1));
    for (const [index, line] of lines.entries()) {
      const isOfSubject = subjects[index] === subject;
      const texts = (text: string) => isOfSubject ? "" : text;
      assertEquals(membersOf(line, texts), membersOf(LINES[index], texts));
      if (isOfSubject) assert(!/Zoë|key \d|[Dd]ogs|Cats|Katzen/.test(line), line);
    }
  }
});

Deno.test("redacted() leaves a sound log if it erases the names of several categories", async () => {
  const { source, lines } = await redact(LINES, ["categories/2", `categories/${-(2n ** 63n)}`]);
  await verifyExport(() => source());
  const names = lines.map((line) => JSON.parse(line).data.name);
  assertGreater(names.filter((name) => name === "(removed)").length, 2);
});

Deno.test("redacted() keeps a change of a name a change, and one name the same", async () => {
  const renamed = LINES.findIndex((line) => /"previous":{"name"/.test(line));
  const { subject } = JSON.parse(LINES[renamed]);
  const { source, lines } = await redact(LINES, [subject]);
  await verifyExport(() => source());
  const { name, previous } = JSON.parse(lines[renamed]).data;
  assertEquals([name, previous.name], ["(removed) 2", "(removed)"]);
});

Deno.test("redacted() rejects if the export is not the one that was verified", async () => {
  const altered = [
    LINES.slice(0, -1),
    LINES.with(LENGTH / 2, LINES[LENGTH / 2].replace(/"(name|label)":"/, "$&x")),
    LINES.with(-1, "{}"),
  ];
  for (const lines of altered) {
    await assertRejects(() => redact(lines, ["pets/1"]), RefusedError, "The export changed");
  }
});
