import { eventOf, subjectOf } from "eventstore-less/parts";
import { openPublished, prove, readRegularFile } from "eventstore-less/tools";
import { APPLICATION } from "../../src/application.ts";
import { writeFile } from "node:fs/promises";
import { formatCount, formatCounted } from "../cli/format.ts";
import { withLog } from "../cli/log_source.ts";
import { UsageError } from "../cli/table_entry.ts";
import { operatorCommand, print, say, write } from "../cli/run_command.ts";
import { isSubject, SUBJECT_FORMS } from "../cli/subject_text.ts";

/** A position. */
const POSITION = /^[1-9]\d{0,14}$/;

interface Flags {
  "published"?: string;
  "line"?: string;
  "consistency"?: string;
  "file"?: string;
}

export const command = operatorCommand<Flags>({
  interrupt: () => "Interrupted. No proof was printed. Run the same command again.",
  async run({ published: dir, line: linePath, consistency, file }, [what]) {
    if (!dir) throw new UsageError("--published is required: the folder of the published log");
    const namesEvent = what !== undefined;
    const namesCheckpoint = consistency !== undefined;
    if (namesEvent === namesCheckpoint) {
      throw new UsageError(
        `Name either an event (${SUBJECT_FORMS.join(", ")} or a position) or --consistency`,
      );
    }
    if (consistency !== undefined) return await proveConsistency(dir, consistency);
    const event = eventNamed(what!);
    // Read the published log first, because it may be refused at once.
    openPublished(dir);
    const { proof, line, position, before, size } = await withLog(
      file,
      (log) => prove(dir, event, log),
    );
    if (before !== undefined) {
      const hint = `To prove the one before it, name its position, ${before}, instead of ${what}`;
      say(`Line ${formatCount(position)} is the newest event of ${what}. ${hint}`);
    }
    if (linePath !== undefined) await writeFile(linePath, line);
    await write(new TextEncoder().encode(proof));
    const proven = eventOf(APPLICATION, line);
    const title = proven
      ? `${proven.type} ${subjectOf(APPLICATION, proven)}`
      : "not an event of this version";
    say(`Proved line ${formatCount(position)} (${title}) in the ${logOf(size)}.`);
  },
});

/** The position, or the subject, that an argument names. */
function eventNamed(what: string): number | string {
  if (POSITION.test(what)) return Number(what);
  if (isSubject(what)) return what;
  throw new UsageError(
    `${JSON.stringify(what)} is neither ${SUBJECT_FORMS.join(", ")} nor a position`,
  );
}

async function proveConsistency(dir: string, path: string): Promise<void> {
  const published = openPublished(dir);
  const older = new TextDecoder().decode(readRegularFile(path, path));
  const size = formatCount(published.proveConsistency(older).size);
  const claim = "nothing before it was changed or removed";
  const log = logOf(published.checkpoint.size);
  await print(`The ${log} extends the checkpoint of ${size}: ${claim}.`);
}

function logOf(size: number): string {
  return `published log of ${formatCounted(size, "event")}`;
}
