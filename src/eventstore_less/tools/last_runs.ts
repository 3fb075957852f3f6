/**
 * The records of the last audit and the last backup of a store. They are not part of the log, so no export has them, and
 * nothing follows from them.
 */

import { z } from "zod";
import type { Application } from "../application.ts";
import { decodeJson, encodeJson } from "../encoding/json.ts";
import { Instant } from "../encoding/text_forms.ts";
import { HEAD_KEY, lastRunKey } from "../keyspace.ts";
import { decodeHeadRecord, readStoreFormat } from "../log/head.ts";
import { STORE_FORMAT } from "../log/store_format.ts";
import { systemRuntime } from "../runtime/system_runtime.ts";
import { checkedContent, withChecksum } from "../store/checksum.ts";
import { commitUntilKnown } from "../store/commit_until_known.ts";
import { ResilientStore } from "../store/resilience/resilient_store.ts";
import type { Commit, Store } from "../store/store.ts";
import { openAt, storeLocationOf } from "./open_to_read.ts";
import type { StoreAt, ToolStore } from "./tool_store.ts";

/** The last audit of a store that had a result. */
export interface AuditRun {
  /** When it ended, in UTC. */
  endedAt: string;
  /** The position of the last event that it audited. */
  position: number;
  /** Whether it found no fault. */
  sound: boolean;
}

/** The last backup of a store: its end, or at most ten seconds before if it follows. */
export interface BackupRun {
  /** When it ended, in UTC. */
  endedAt: string;
  /** The position at which its file ended. */
  position: number;
  /** The path of its file, on the machine of the backup. */
  file: string;
}

/** The last run of each tool. */
export interface LastRuns {
  /** The last audit. */
  audit?: AuditRun;
  /** The last backup. */
  backup?: BackupRun;
}

const ENDED_AT = { endedAt: Instant, position: z.int().min(0) };
const AUDIT_RUN = z.object({ ...ENDED_AT, sound: z.boolean() }) satisfies z.ZodType<AuditRun>;
const BACKUP_RUN = z.object({ ...ENDED_AT, file: z.string() }) satisfies z.ZodType<BackupRun>;

/** How long a record is tried to be written, in milliseconds, for example while the store is locked. */
const RECORD_LIMIT_MS = 2_000;

type Without<Run> = Omit<Run, "endedAt">;

/**
 * Records that a tool has ended now. Never rejects, because the tool has ended all the same: a store that can only be read
 * gets no record. A store of the format before gets none either, because older programs do not know the record, nor does
 * one without a head, because it would no longer be empty.
 */
export async function recordRun<Tool extends keyof LastRuns>(
  log: ToolStore | StoreAt,
  tool: Tool,
  run: Without<Required<LastRuns>[Tool]>,
): Promise<void> {
  try {
    if ("store" in log) return await record(log, tool, run);
    const { application } = log;
    // A tool opens a store only to read it.
    const store = await openAt(application, storeLocationOf(log));
    try {
      await record({ application, store, runtime: systemRuntime }, tool, run);
    } finally {
      store.close();
    }
  } catch {
    // See above.
  }
}

async function record(
  { application, store: opened, runtime }: ToolStore,
  tool: keyof LastRuns,
  run: object,
): Promise<void> {
  const store = new ResilientStore(opened, { runtime, probeKey: HEAD_KEY });
  if (!await hasPresentHead(application, store)) return;
  const key = lastRunKey(tool);
  const versionstamp = (await store.get(key))?.versionstamp ?? null;
  const endedAt = new Date(runtime.now()).toISOString();
  const value = withChecksum(key, encodeJson({ endedAt, ...run }));
  const commit: Commit = {
    guard: { key, versionstamp },
    mutations: [{ type: "set", key, value }],
  };
  const deadline = runtime.monotonicNow() + RECORD_LIMIT_MS;
  await commitUntilKnown(runtime, {
    guard: versionstamp,
    commit: () => store.commit(commit),
    readGuard: () => store.get(key),
    // If another run has changed the record, that has ended just now, too.
    hasLanded: () => true,
    isOver: () => runtime.monotonicNow() >= deadline,
  });
}

async function hasPresentHead(application: Application, store: Store): Promise<boolean> {
  const entry = await store.get(HEAD_KEY);
  if (entry === null || decodeHeadRecord(application, entry.value).kind !== "head") return false;
  return await readStoreFormat(store) === STORE_FORMAT;
}

/** Reads the records of the last runs. One that is damaged counts as missing. */
export async function readLastRuns(store: Store): Promise<LastRuns> {
  const { entries: [audit, backup] } = await store.snapshot(
    [lastRunKey("audit"), lastRunKey("backup")],
    [],
    { limit: 0 },
  );
  return {
    audit: AUDIT_RUN.safeParse(contentOf(audit)).data,
    backup: BACKUP_RUN.safeParse(contentOf(backup)).data,
  };
}

function contentOf(entry: Awaited<ReturnType<Store["get"]>>): unknown {
  const content = entry === null ? undefined : checkedContent(entry);
  return content === undefined ? undefined : decodeJson(content);
}
