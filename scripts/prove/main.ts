import { eventOf, subjectOf } from "eventstore-less/parts";
import {
  formatCount,
  formatCounted,
  PublishedLog,
  readPublished,
  readRegularFile,
  RefusedError,
} from "eventstore-less/tools";
import { APPLICATION } from "../../src/application.ts";
import { Buffer } from "node:buffer";
import { writeFile } from "node:fs/promises";
import { type ReadLines, withLog } from "../cli/log_source.ts";
import { print, runCommand, say, UsageError, write } from "../cli/run_command.ts";
import { COMMANDS } from "../cli/commands.ts";
import { isSubject, SUBJECT_FORMS } from "../cli/subject_text.ts";

/** A position. */
const POSITION = /^[1-9]\d{0,14}$/;

await runCommand(COMMANDS.prove, {
  interrupt: () => "Interrupted. No proof was printed. Run the same command again.",
  async run({ published: dir, line: linePath, consistency, "from-file": file }, [what]) {
    if (!dir) throw new UsageError("--published is required: the folder of the published log");
    const namesEvent = what !== undefined;
    const namesCheckpoint = consistency !== undefined;
    if (namesEvent === namesCheckpoint) {
      throw new UsageError(
        `Name either an event (${SUBJECT_FORMS.join(", ")} or a position) or --consistency`,
      );
    }
    const published = new PublishedLog(readPublished(dir));
    const log = `published log of ${formatCounted(published.checkpoint.size, "event")}`;
    if (consistency !== undefined) {
      const older = new TextDecoder().decode(readRegularFile(consistency, consistency));
      const size = formatCount(published.proveConsistency(older).size);
      const claim = "nothing before it was changed or removed";
      return await print(`The ${log} extends the checkpoint of ${size}: ${claim}.`);
    }
    const { line, position, before } = await withLog(file, (lines) => findLine(what, lines));
    if (before !== undefined) {
      const hint = `To prove the one before it, name its position, ${before}, instead of ${what}`;
      say(`Line ${formatCount(position)} is the newest event of ${what}. ${hint}`);
    }
    const proof = published.proveInclusion(line, position);
    if (linePath !== undefined) await writeFile(linePath, line);
    await write(new TextEncoder().encode(proof));
    const event = eventOf(APPLICATION, line);
    const title = event
      ? `${event.type} ${subjectOf(APPLICATION, event)}`
      : "not an event of this version";
    say(`Proved line ${formatCount(position)} (${title}) in the ${log}.`);
  },
});

/** The line at a position, or the newest line of a subject. `before` is the position of the line before it, of the same subject. */
async function findLine(what: string, readLines: ReadLines) {
  const isPosition = POSITION.test(what);
  if (!isPosition && !isSubject(what)) {
    throw new UsageError(
      `${JSON.stringify(what)} is neither ${SUBJECT_FORMS.join(", ")} nor a position`,
    );
  }
  const from = isPosition ? Number(what) : 1;
  const subject = `"subject":"${what}"`;
  let found: { line: Uint8Array; position: number; before?: number } | undefined;
  let position = from;
  for await (const lines of readLines(from)) {
    for (const line of lines) {
      if (isPosition) return { line, position };
      const isFound = Buffer.from(line.buffer, line.byteOffset, line.length).includes(subject);
      if (isFound) found = { line, position, before: found?.position };
      position++;
    }
  }
  if (found !== undefined) return found;
  const lacks = isPosition ? "ends before line" : "has no event about";
  throw new RefusedError(`The log ${lacks} ${what}`);
}
