/** `deno task restore`: restores an export of the log into an empty store. */

import { OpenStoreError } from "eventstore-less";
import { reasonOf } from "eventstore-less/startup";
import { expectFolder } from "eventstore-less/store";
import {
  type Export,
  restore,
  type RestorePhase,
  type RestoreReport,
  UnsoundError,
} from "eventstore-less/tools";
import { commandName } from "../../src/runtime/words.ts";
import { APPLICATION } from "../../src/application.ts";
import { type FileHandle, open, rm } from "node:fs/promises";
import process from "node:process";
import { makeTempFile } from "this-runtime/temp_file.ts";
import { ConfigError } from "../../src/settings/config.ts";
import { escapeInvisible } from "../../src/runtime/escape_invisible.ts";
import { configuredStore } from "../cli/configured_store.ts";
import { expectSubject, parseCount, parseTime } from "../cli/flag_values.ts";
import { openInput } from "../cli/log_source.ts";
import { adviceOnError } from "../cli/advice_on_error.ts";
import { formatCount, formatCounted } from "../cli/format.ts";
import { progressOf, type ShowProgress } from "../cli/progress.ts";
import { UsageError } from "../cli/table_entry.ts";
import { type CommandActions, operatorCommand, say } from "../cli/run_command.ts";

const CHUNK_BYTES = 256 * 1024;

const PROGRESS: Record<RestorePhase, ShowProgress> = {
  verify: progressOf("Verifying", "events"),
  verify_redacted: progressOf("Verifying new lines", "events"),
  read: progressOf("Reading", "events"),
  write: progressOf("Restoring", "events"),
};

let name = "restore";
let isWriting = false;
/** The last position before the time of --until. With a time such as 24h, a later run would find another one. */
let endOfTime: number | undefined;

interface Flags {
  to?: string;
  until?: string;
  redact?: string[];
}

const ACTIONS: CommandActions<Flags> = {
  interrupt() {
    const again = `Run ${commandName(name)} again`;
    if (!isWriting) return `Interrupted. Nothing was written. ${again}.`;
    const refused = "Interrupted. The store is incomplete and refused.";
    const change = endOfTime === undefined ? "" : `, but --to ${endOfTime} in place of --until`;
    return `${refused} ${again} with the same export and flags${change}: it resumes.`;
  },
  adviceOn: (error) => error instanceof UnsoundError ? remedyFor(error) : adviceOnError(error),
  async run(flags, positionals) {
    for (const subject of flags.redact ?? []) expectSubject("--redact", subject);
    await restoreExport(flags, positionals);
  },
};

export const command = operatorCommand(ACTIONS);

/** `erase --subject` is `restore --redact`. */
export const erase = operatorCommand<Omit<Flags, "redact"> & { subject?: string[] }>({
  ...ACTIONS,
  async run({ subject: redact = [], ...end }, positionals) {
    name = "erase";
    if (redact.length === 0) throw new UsageError("--subject is required: whose data is erased");
    for (const subject of redact) expectSubject("--subject", subject);
    await restoreExport({ ...end, redact }, positionals);
  },
});

async function restoreExport(
  { to, until, redact: subjects = [] }: Flags,
  [path]: string[],
): Promise<void> {
  if (path === undefined) {
    throw new UsageError("An export is required: the name of a file, or - for standard input");
  }
  if (to !== undefined && until !== undefined) {
    throw new UsageError("--to and --until cannot be used together");
  }
  const end = { position: parseCount("--to", to, 1), time: parseTime("--until", until) };
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
}

/** The end of the restored log: a position, or a time that its events are before. */
interface End {
  position?: number;
  time?: string;
}

async function restoreFrom(
  source: Export,
  { time, position: to }: End,
  redact: readonly string[],
): Promise<void> {
  const start = performance.now();
  const report = await restore(source, APPLICATION, configuredStore(), {
    to,
    until: time,
    redact,
    onProgress({ phase, done, total }) {
      isWriting = phase === "write";
      if (isWriting && time !== undefined) endOfTime = total;
      PROGRESS[phase](done, total);
    },
    onSchemaCreated: (database) => say(`Created the tables in the ${database}`),
  });
  const seconds = ((performance.now() - start) / 1_000).toFixed(1);
  if (time !== undefined) sayEndOfTime(report, time);
  sayRedacted(report);
  const { position, hash } = report;
  say(
    `Restored ${formatCounted(position, "event")} in ${seconds} s; the last has the hash ${hash}.`,
  );
  sayConsequences(report);
}

/** Says at which position a log ends that ends at a time. */
function sayEndOfTime({ endOfTime }: RestoreReport, time: string): void {
  const { position, nextTime, earlierAfter } = endOfTime!;
  if (nextTime === undefined) {
    say(`The export ends at position ${position}, and all its events are before ${time}.`);
    return;
  }
  say(`The log ends at position ${position}, because the next event is of ${nextTime}.`);
  if (earlierAfter === 0) return;
  say(
    `The events after it that are before ${time} are left out, too ` +
      `(${formatCount(earlierAfter)}): the clocks of the instances differ.`,
  );
}

function sayRedacted({ redacted }: RestoreReport): void {
  if (redacted.size === 0) return;
  for (const [subject, count] of redacted) {
    say(`Replaced the personal data of ${subject} in ${formatCounted(count, "event")}.`);
  }
  say(
    "The old store, its backups and its exports still have the data. A request that is sent again " +
      "with the Idempotency-Key of such an event and the erased text gets 409; a removal gets 204.",
  );
}

/** Says what the new log lacks, and what ends with it. */
function sayConsequences({ consequences, exported, kept }: RestoreReport): void {
  for (const sentence of consequences) say(escapeInvisible(sentence));
  const end = new Date(exported.latestMs).toISOString();
  say(
    `The export ends at ${end}. A key that was revoked later is valid again: ` +
      `revoke it (${commandName("keys revoke ID")}) before the service uses the new store.`,
  );
  if (kept === exported.position) return;
  const same = kept === 0
    ? "No line is one of the export"
    : `Only the lines up to position ${kept} are those of the export`;
  say(
    `${same}. Checkpoints, backups, proofs ` +
      "and followers that have seen a later position end: begin new ones. If a later position was " +
      `published, ${commandName("publish")} needs a new key, origin and folder.`,
  );
}

/** The remedy for a fault of an export, to follow the message about it. */
function remedyFor({ lastSound, named = 0 }: UnsoundError): string {
  const gap = named > lastSound + 1
    ? "; lines are missing before it, as in an export by the command log with --until or another " +
      "flag that selects events, which is no prefix of the log: make it with --to"
    : "";
  return lastSound === 0 ? gap : `${gap}; --to ${lastSound} restores the lines before it`;
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
