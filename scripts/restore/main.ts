/** `deno task restore`: restores an export of the log into an empty store. */

import { OpenStoreError, type RecordedEvent } from "eventstore-less";
import { subjectOf } from "eventstore-less/parts";
import { reasonOf } from "eventstore-less/startup";
import { expectFolder } from "eventstore-less/store";
import {
  type Export,
  findEndOfTime,
  firstLines,
  formatCount,
  formatCounted,
  type LogVerifier,
  readExport,
  redacted,
  RefusedError,
  restore,
  verifyExport,
} from "eventstore-less/tools";
import { APPLICATION } from "../../src/application.ts";
import { type FileHandle, open, rm } from "node:fs/promises";
import process from "node:process";
import { makeTempFile } from "this-runtime/temp_file.ts";
import { commandName } from "../../src/runtime/words.ts";
import { ConfigError } from "../../src/settings/config.ts";
import { escapeInvisible } from "../../src/runtime/escape_invisible.ts";
import { configuredStore } from "../cli/configured_store.ts";
import { expectSubject, parseCount, parseTime } from "../cli/flag_values.ts";
import { openInput } from "../cli/log_source.ts";
import { progressOf } from "../cli/progress.ts";
import { runCommand, say, UsageError, withRetryingStore } from "../cli/run_command.ts";
import { COMMANDS } from "../cli/commands.ts";

const CHUNK_BYTES = 256 * 1024;

let isWriting = false;
/** The last position that --until includes. With a time such as 24h, a later run would find another one. */
let endOfTime: number | undefined;

await runCommand(COMMANDS.restore, {
  interrupt() {
    const again = `Run ${commandName("restore")} again`;
    if (!isWriting) return `Interrupted. Nothing was written. ${again}.`;
    const refused = "Interrupted. The store is incomplete and refused.";
    const change = endOfTime === undefined ? "" : `, but --to ${endOfTime} in place of --until`;
    return `${refused} ${again} with the same export and flags${change}: it resumes.`;
  },
  async run({ to, until, redact: subjects = [] }, [path]) {
    if (path === undefined) {
      throw new UsageError("An export is required: the name of a file, or - for standard input");
    }
    if (to !== undefined && until !== undefined) {
      throw new UsageError("--to and --until cannot be used together");
    }
    const end = { position: parseCount("--to", to, 1), time: parseTime("--until", until) };
    for (const subject of subjects) expectSubject("--redact", subject);
    const store = configuredStore();
    if (store.kind === "memory") {
      throw new ConfigError(
        "KV_PATH must not be :memory:, because the store would end with this command; set it to a new file",
      );
    }
    // Otherwise the whole export would be verified first.
    if (store.kind === "file") {
      await expectFolder(store).catch((error) => {
        throw new OpenStoreError(store, reasonOf(error));
      });
    }
    const input = path === "-" ? undefined : await openInput(path);
    if (input !== undefined && (await input.stat()).isFile()) {
      await using file = input;
      return await restoreFrom(() => bytesOf(file), end, subjects);
    }
    await using copy = await openTempFile();
    const copied = copiedAsRead(input?.createReadStream() ?? process.stdin, copy);
    await restoreFrom(copied, end, subjects);
  },
});

/** The end of the restored log: a position, or the last event before the first one that is later than a time. */
interface End {
  position?: number;
  time?: string;
}

async function restoreFrom(
  whole: Export,
  { time, position }: End,
  subjects: readonly string[],
): Promise<void> {
  const start = performance.now();
  if (time !== undefined) endOfTime = await positionAt(whole, time);
  const to = endOfTime ?? position;
  const beginning = to === undefined ? whole : () => firstLines(whole, to);
  const original = await verifyExport(APPLICATION, beginning, progressOf("Verifying", "events"));
  if (to !== undefined && to > original.position) {
    throw new RefusedError(`The export ends at position ${original.position}, before ${to}`);
  }
  const { source, verified, kept } = await redact(beginning, original, subjects);
  const all = to === undefined
    ? original
    : await readExport(APPLICATION, whole, progressOf("Reading", "events"));
  await write(source, verified, start);
  for (const sentence of original.consequencesOfCut(all, Date.now())) {
    say(escapeInvisible(sentence));
  }
  const end = new Date(all.latestMs).toISOString();
  say(
    `The export ends at ${end}. A key that was revoked later is valid again: ` +
      `revoke it (${commandName("keys revoke ID")}) before the service uses the new store.`,
  );
  if (kept === all.position) return;
  const same = kept === 0
    ? "No line is one of the export"
    : `Only the lines up to position ${kept} are those of the export`;
  say(
    `${same}. Checkpoints, backups, proofs ` +
      "and followers that have seen a later position end: begin new ones. If a later position was " +
      `published, ${commandName("publish")} needs a new key, origin and folder.`,
  );
}

/** Says at which position a log ends that ends at a time. */
async function positionAt(source: Export, time: string): Promise<number> {
  const { position, laterTime, earlierAfter } = await findEndOfTime(APPLICATION, source, time);
  if (laterTime === undefined) {
    say(`The export ends at position ${position}, and no event is later than ${time}.`);
    return position;
  }
  say(`The log ends at position ${position}, because the next event is of ${laterTime}.`);
  if (earlierAfter > 0) {
    say(
      `The events after it that are not later than ${time} are left out, too ` +
        `(${formatCount(earlierAfter)}): the clocks of the instances differ.`,
    );
  }
  return position;
}

/** The export without the personal data of the subjects, and the last position whose line stays the same. */
async function redact(source: Export, original: LogVerifier, subjects: readonly string[]) {
  if (subjects.length === 0) return { source, verified: original, kept: original.position };
  const counts = new Map(subjects.map((subject) => [subject, 0]));
  let first = Infinity;
  const note = (event: RecordedEvent) => {
    const subject = subjectOf(APPLICATION, event);
    counts.set(subject, counts.get(subject)! + 1);
    first = Math.min(first, event.position);
  };
  const noting = () => redacted(APPLICATION, source, original.head, subjects, note);
  const verified = await verifyExport(
    APPLICATION,
    noting,
    progressOf("Verifying new lines", "events"),
  );
  for (const [subject, count] of counts) {
    if (count === 0) throw new RefusedError(`No event has personal data of ${subject}`);
    say(`Replaced the personal data of ${subject} in ${formatCounted(count, "event")}.`);
  }
  say(
    "The old store, its backups and its exports still have the data. A request that is sent again " +
      "with the Idempotency-Key of such an event and the erased text gets 409; a removal gets 204.",
  );
  const plain = () => redacted(APPLICATION, source, original.head, subjects);
  return { source: plain, verified, kept: first - 1 };
}

async function write(source: Export, verified: LogVerifier, start: number): Promise<void> {
  const { position, lastHash } = verified.head;
  const progress = progressOf("Restoring", "events");
  // The restore itself checks the content of the store.
  await withRetryingStore({ create: true, accept: async () => {} }, (deps) => {
    isWriting = true;
    return restore(
      { application: APPLICATION, ...deps },
      source,
      verified,
      (done) => progress(done, position),
    );
  });
  const seconds = ((performance.now() - start) / 1_000).toFixed(1);
  say(
    `Restored ${
      formatCounted(position, "event")
    } in ${seconds} s; the last has the hash ${lastHash}.`,
  );
}

/**
 * An export that can be read only once. Each reader reads what earlier ones have copied to a file, and copies what it
 * reads further. So an input that is not an export is refused at its first line, even if it never ends.
 */
function copiedAsRead(input: AsyncIterable<Uint8Array>, copy: FileHandle): Export {
  const rest = input[Symbol.asyncIterator]();
  return async function* () {
    yield* bytesOf(copy);
    // Unlike a loop over the iterator, this leaves it open if the reader ends early.
    for (let next = await rest.next(); !next.done; next = await rest.next()) {
      // A plain write may store only a part, for example on a full disk.
      await copy.writeFile(next.value);
      yield next.value;
    }
  };
}

async function openTempFile(): Promise<FileHandle> {
  const path = await makeTempFile("export-");
  const file = await open(path, "r+");
  // The system keeps the removed file while it is open, and frees it however this command ends.
  await rm(path);
  return file;
}

async function* bytesOf(file: FileHandle): AsyncGenerator<Uint8Array> {
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (let offset = 0;;) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, offset);
    if (bytesRead === 0) return;
    yield chunk.slice(0, bytesRead);
    offset += bytesRead;
  }
}
