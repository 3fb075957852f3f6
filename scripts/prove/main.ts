import { Buffer } from "node:buffer";
import { assertNever } from "../../src/encoding/assert_never.ts";
import { subjectOf } from "eventstore-less/log/event.ts";
import { keyIdIn, petIdIn } from "../../events/subject.ts";
import { eventOf } from "eventstore-less/log/lines.ts";
import { PublishedLog } from "../published/published_log.ts";
import { RefusedError } from "../cli/refused_error.ts";
import { type ReadLines, withLog } from "../cli/log_source.ts";
import { formatCount, formatCounted } from "../cli/format.ts";
import { readPublished, readRegularFile } from "../published/published_folder.ts";
import { print, runCommand, say, UsageError, write } from "../cli/run_command.ts";
import { COMMANDS } from "../cli/commands.ts";

/** A position or the id of a pet. */
const NUMBER = /^[1-9]\d{0,14}$/;

await runCommand(COMMANDS.prove, {
  interrupt: () => "Interrupted. No proof was printed. Run the same command again.",
  async run({ published: dir, line: linePath, consistency, "from-file": file }, [what]) {
    if (!dir) throw new UsageError("--published is required: the folder of the published log");
    const namesEvent = what !== undefined;
    const namesCheckpoint = consistency !== undefined;
    if (namesEvent === namesCheckpoint) {
      throw new UsageError("Name either an event (pets/7, keys/ID or a position) or --consistency");
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
    if (linePath !== undefined) await Deno.writeFile(linePath, line);
    await write(new TextEncoder().encode(proof));
    const event = eventOf(line);
    const title = event ? `${event.type} ${subjectOf(event)}` : "not an event of this version";
    say(`Proved line ${formatCount(position)} (${title}) in the ${log}.`);
  },
});

/** `before` is the position of the line before it about the same pet. */
async function findLine(what: string, readLines: ReadLines) {
  const target = parseTarget(what);
  const from = firstPositionOf(target);
  const subject = `"subject":"${what}"`;
  let found: { line: Uint8Array; position: number; before?: number } | undefined;
  let position = from;
  for await (const lines of readLines(from)) {
    for (const line of lines) {
      const isFound = target.kind === "position" ||
        Buffer.from(line.buffer, line.byteOffset, line.length).includes(subject);
      if (isFound) found = { line, position, before: found?.position };
      // Only a pet can have a newer event that is to be proved.
      if (isFound && target.kind !== "pet") return found!;
      position++;
    }
  }
  if (found !== undefined) return found;
  const lacks = target.kind === "position" ? "ends before line" : "has no event about";
  throw new RefusedError(`The log ${lacks} ${what}`);
}

type Target =
  | { kind: "position"; position: number }
  | { kind: "pet"; petId: number }
  | { kind: "key" };

function parseTarget(what: string): Target {
  if (NUMBER.test(what)) return { kind: "position", position: Number(what) };
  const petId = petIdIn(what);
  if (petId !== undefined && NUMBER.test(petId)) return { kind: "pet", petId: Number(petId) };
  const keyId = keyIdIn(what);
  if (keyId !== undefined && /^[0-9A-Z]+$/.test(keyId)) return { kind: "key" };
  throw new UsageError(`${JSON.stringify(what)} is neither pets/ID, keys/ID nor a position`);
}

/** The first position at which the line may be. */
function firstPositionOf(target: Target): number {
  switch (target.kind) {
    case "position":
      return target.position;
    case "pet":
      // Pet 7 is not before position 8, because each pet is an event, and the first event issued a key.
      return target.petId + 1;
    case "key":
      return 1;
    default:
      return assertNever(target);
  }
}
