/**
 * Restores an export into an empty store: first the lines and the projections, and the head last. Until then, a restore
 * mark is stored under the head's key, so no service works on half a log, and a killed restore can be continued.
 */

import type { Head, ProjectionRecord } from "../../definitions.ts";
import { bytesEqual } from "../../encoding/bytes_equal.ts";
import { sha256Hex } from "../../encoding/sha256.ts";
import {
  HEAD_KEY,
  logKey,
  logMutations,
  projectionMutations,
  retainedRecords,
} from "../../keyspace.ts";
import { GENESIS_HASH } from "../../log/event.ts";
import {
  decodeHeadRecord,
  encodeHead,
  encodeRestoreMark,
  type RestoreMark,
} from "../../log/head.ts";
import { followsHash } from "../../log/line_text.ts";
import { eventOf, splitLines } from "../../log/lines.ts";
import { linesOf } from "../../log/read_log.ts";
import { STORE_FORMAT } from "../../log/store_format.ts";
import { project } from "../../projections/project.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { Mutation, Store, StoreEntry } from "../../store/store.ts";
import type { RecordedLine } from "../../definitions.ts";
import type { Application } from "../../application.ts";
import { eventsText } from "../events_text.ts";
import { ToolError } from "../tool_error.ts";
import type { Export, ToolStore } from "../tool_store.ts";
import type { LogVerifier } from "../verify/log_verifier.ts";
import { commitGuarded } from "../guarded/commit_guarded.ts";
import { writeInCommits } from "../guarded/write_in_commits.ts";
import { changedError } from "./verify_export.ts";

/** The head of a verified export, the records that it makes, and the latest time of its events. */
type VerifiedExport = Pick<LogVerifier, "head" | "records" | "latestMs">;

/**
 * Restores a verified export into an empty store, which must retry its reads. Overwrites nothing in another store.
 * Rejects with `RefusedError` if the export is not the one that was verified.
 */
export async function writeExport(
  { application, store, runtime }: ToolStore,
  source: Export,
  { head, records, latestMs }: VerifiedExport,
  progress: (written: number) => void = () => {},
): Promise<void> {
  const { mark, replaceMark } = await takeMark(application, store, runtime, head);
  const hasChanges = application.eventTypes.some((type) =>
    !application.events[type].isFirst && head.types[type]
  );
  // An earlier state of a subject would be written only to be replaced, which takes most of the time.
  const isLast = ({ key, content }: ProjectionRecord) => {
    if (!hasChanges) return true;
    return content !== undefined && records.has(key, content);
  };
  // A clock that is wrong would leave out records that are still valid.
  const time = Math.min(runtime.now(), latestMs);
  const recordsOf = (lines: readonly RecordedLine[]) =>
    retainedRecords(project(application, lines).filter(isLast), time);
  const seal = (lines: readonly RecordedLine[]) => ({
    restored: lines.at(-1)!.event.position,
    mutations: [
      ...logMutations(lines[0].event.position, lines.map(({ line }) => line)),
      ...projectionMutations(head.generation, recordsOf(lines)),
    ],
  });
  const lines = linesAfter(application, mark.restored, store, source, head);
  await writeInCommits(lines, store.limits, seal, async ({ restored, mutations }) => {
    // One commit stores both the lines and their count.
    await replaceMark(encodeRestoreMark({ ...mark, restored }), mutations);
    progress(restored);
  });
  await replaceMark(encodeHead(application, head));
}

/**
 * The lines of a verified export after those that an earlier run has restored. The hash chain shows that the export has
 * not changed, and that the restored lines are its first ones.
 */
async function* linesAfter(
  application: Application,
  restored: number,
  store: Store,
  source: Export,
  head: Head,
) {
  const record = restored === 0 ? null : await store.get(logKey(restored));
  const lastRestored = record === null ? undefined : linesOf(record)?.at(-1)?.line;
  let position = 0;
  let lastHash = GENESIS_HASH;
  for await (const lines of splitLines(source())) {
    const rest: RecordedLine[] = [];
    for (const line of lines) {
      position++;
      const event = followsHash(line, lastHash) ? eventOf(application, line) : undefined;
      if (event?.position !== position || position > head.position) throw changedError();
      if (position === restored && !bytesEqual(lastRestored, line)) {
        throw new ToolError(
          "store_not_empty",
          "An earlier run restored another export than it had verified; name another store",
        );
      }
      if (position > restored) rest.push({ event, line });
      lastHash = sha256Hex(line);
    }
    yield rest;
  }
  if (position !== head.position || lastHash !== head.lastHash) throw changedError();
}

/**
 * Writes the mark into an empty store, or takes over that of an earlier restore of this export. `replaceMark` commits
 * mutations with the record of another mark or of the head. It rejects unless the commit landed.
 */
async function takeMark(application: Application, store: Store, runtime: Runtime, head: Head) {
  const { position, lastHash } = head;
  const found = await store.get(HEAD_KEY);
  const restored = await restoredIn(application, store, found, head);
  const run = runtime.newId();
  const mark: RestoreMark = {
    format: "restore",
    storeFormat: STORE_FORMAT,
    run,
    position,
    lastHash,
    restored,
  };
  let versionstamp = found?.versionstamp ?? null;
  const replaceMark = async (value: Uint8Array, mutations: Mutation[] = []) => {
    // A mark has the id of its run. Only this run replaces its mark with a head, so any head follows from that one.
    const isOurs = (stored: StoreEntry | null) => {
      const isHead = decodeHeadRecord(application, value).kind === "head";
      if (isHead) return decodeHeadRecord(application, stored?.value).kind === "head";
      return bytesEqual(stored?.value, value);
    };
    const set: Mutation = { type: "set", key: HEAD_KEY, value };
    const commit = { guard: { key: HEAD_KEY, versionstamp }, mutations: [...mutations, set] };
    const landed = await commitGuarded(store, runtime, commit, isOurs);
    if (landed === undefined) {
      throw new ToolError(
        "store_not_empty",
        "Another restore or a service has begun to write to the store",
      );
    }
    versionstamp = landed.versionstamp;
  };
  await replaceMark(encodeRestoreMark(mark));
  return { mark, replaceMark };
}

/** Number of events of an unfinished restore of the same export; 0 if the store is empty. Rejects at other data. */
async function restoredIn(
  application: Application,
  store: Store,
  found: StoreEntry | null,
  head: Head,
): Promise<number> {
  if (found === null) {
    const isEmpty = (await store.list({ prefix: [] }, { limit: 1 })).length === 0;
    if (isEmpty) return 0;
    throw new ToolError("store_not_empty", "The store is not empty; name another");
  }
  const record = decodeHeadRecord(application, found.value);
  if (record.kind === "refused") {
    throw new ToolError("store_not_empty", `The store is not empty: ${record.message}`);
  }
  if (record.kind !== "restore_mark") {
    throw new ToolError("store_not_empty", "The store already holds a log; name another");
  }
  const { position, lastHash, restored } = record.mark;
  if (position === head.position && lastHash === head.lastHash) return restored;
  throw new ToolError(
    "store_not_empty",
    `The store holds a restore of another export, of ${eventsText(position)}, the last with the ` +
      `hash ${lastHash}, that was not finished`,
  );
}
