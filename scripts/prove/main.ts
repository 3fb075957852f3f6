import { Buffer } from "node:buffer";
import { subjectOf } from "../../events/event.ts";
import { eventOf } from "../../src/log/lines.ts";
import { PublishedLog } from "../published/published_log.ts";
import { RefusedError } from "../cli/refused_error.ts";
import { type ReadLines, withLog } from "../cli/log_source.ts";
import { count, counted } from "../cli/format.ts";
import { readPublished, readRegularFile } from "../published/published_folder.ts";
import { print, runCommand, say, UsageError, write } from "../cli/run_command.ts";
import { COMMANDS } from "../cli/commands.ts";

await runCommand(COMMANDS.prove, {
  interrupt: () => "Interrupted. No proof was printed. Run the same command again.",
  async run({ published: dir, line: linePath, consistency, "from-file": file }, [what]) {
    if (!dir) throw new UsageError("--published is required: the folder of the published log");
    if ((what === undefined) === (consistency === undefined)) {
      throw new UsageError("Name either an event (pets/7, keys/ID or a position) or --consistency");
    }
    const published = new PublishedLog(readPublished(dir));
    const log = `published log of ${counted(published.checkpoint.size, "event")}`;
    if (consistency !== undefined) {
      const older = new TextDecoder().decode(readRegularFile(consistency, consistency));
      const size = count(published.proveConsistency(older).size);
      const claim = "nothing before it was changed or removed";
      return await print(`The ${log} extends the checkpoint of ${size}: ${claim}.`);
    }
    const { line, position, before } = await withLog(file, (lines) => findLine(what, lines));
    if (before !== undefined) {
      const hint = `To prove the one before it, name its position, ${before}, instead of ${what}`;
      say(`Line ${count(position)} is the newest event of ${what}. ${hint}`);
    }
    const proof = published.proveInclusion(line, position);
    if (linePath !== undefined) await Deno.writeFile(linePath, line);
    await write(new TextEncoder().encode(proof));
    const event = eventOf(line);
    const title = event ? `${event.type} ${subjectOf(event)}` : "not an event of this version";
    say(`Proved line ${count(position)} (${title}) in the ${log}.`);
  },
});

/** `before` is the position of the line before it about the same pet. */
async function findLine(what: string, readLines: ReadLines) {
  const match = /^(?:([1-9]\d{0,14})|pets\/([1-9]\d{0,14})|keys\/[0-9A-Z]+)$/.exec(what);
  if (match === null) {
    throw new UsageError(`${JSON.stringify(what)} is neither pets/ID, keys/ID nor a position`);
  }
  const [, text, petId] = match;
  // Pet 7 is not before position 8, because each pet is an event, and the first event issued a key.
  const from = text === undefined ? Number(petId ?? 0) + 1 : Number(text);
  const subject = `"subject":"${what}"`;
  let found: { line: Uint8Array; position: number; before?: number } | undefined;
  let position = from;
  for await (const lines of readLines(from)) {
    for (const line of lines) {
      const isFound = text !== undefined ||
        Buffer.from(line.buffer, line.byteOffset, line.length).includes(subject);
      if (isFound) found = { line, position, before: found?.position };
      // Only a pet can have a newer event that is to be proved.
      if (isFound && petId === undefined) return found!;
      position++;
    }
  }
  if (found !== undefined) return found;
  const lacks = text === undefined ? "has no event about" : "ends before line";
  throw new RefusedError(`The log ${lacks} ${what}`);
}
