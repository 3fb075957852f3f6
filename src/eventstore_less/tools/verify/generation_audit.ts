import type { ProjectionKey } from "../../definitions.ts";
import { IDEMPOTENCY_KIND, isProjectionKey, kindOf, projectionKey } from "../../keyspace.ts";
import { readEventAt } from "../../log/read_log.ts";
import { project } from "../../projections/project.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { checkedContent } from "../../store/checksum.ts";
import { formatKey, keysEqual } from "../../store/key_encoding.ts";
import type { Key, Store, StoreEntry } from "../../store/store.ts";
import type { Application } from "../../application.ts";
import { type ExpectedRecords, nameOf } from "./expected_records.ts";
import type { Findings } from "./findings.ts";
import { LaterEvents } from "./later_events.ts";
import type { LogVerifier } from "./log_verifier.ts";

const DIFFERS = {
  missing: "is missing",
  extra: "is there, but does not follow from the log",
  altered: "is not what the log says",
};

type Difference = keyof typeof DIFFERS;

export interface GenerationAuditDeps {
  application: Application;
  store: Store;
  runtime: Pick<Runtime, "now">;
  generation: number;
  /** The verifier of the log, after the last line up to the position of the audit. */
  verifier: LogVerifier;
  findings: Findings;
}

/**
 * Judges the records of a generation: by the log up to the position of the audit, although others may append meanwhile.
 * So each record must be as the log up to there makes it, or as a later event has made it. Otherwise it is `altered`;
 * `extra` if the log makes none under its key; or `missing`. Call `judge()` with all entries, and then `finish()`.
 */
export class GenerationAudit {
  #application: Application;
  #store: Store;
  #runtime: Pick<Runtime, "now">;
  #generation: number;
  #expected: ExpectedRecords;
  #later: LaterEvents;
  #findings: Findings;

  constructor(deps: GenerationAuditDeps) {
    const { application, store, runtime, generation, verifier, findings } = deps;
    this.#application = application;
    this.#store = store;
    this.#runtime = runtime;
    this.#generation = generation;
    this.#expected = verifier.records;
    this.#later = new LaterEvents(application, store, verifier.position, verifier.latestMs);
    this.#findings = findings;
  }

  /** Judges entries of the generation. Call it right after they were read. */
  async judge(entries: readonly StoreEntry[]): Promise<void> {
    const others = entries.filter((entry) => !this.#isExpected(entry));
    if (others.length === 0) return;
    await this.#later.readToHead();
    for (const entry of others) await this.#judgeOther(entry);
  }

  /** Reports what is missing. Call it after all entries. */
  async finish(): Promise<void> {
    const { generation } = await this.#later.readToHead();
    // A record has expired if that is so by the clock and by the log.
    const time = Math.min(this.#runtime.now(), this.#later.latestMs);
    for (const { kind, name, position, expiresAt } of this.#expected.unfound()) {
      if (expiresAt <= time) continue;
      const written = await this.#keysWrittenAt(position);
      const key = written.find((it) => it[0] === kind && nameOf(this.#application, it) === name);
      // Its line was damaged since it was verified: the next audit reports the line.
      if (key === undefined) continue;
      if (this.#later.have(key, undefined)) continue;
      const isReplaced = generation > this.#generation;
      if (isReplaced) {
        this.#findings.noteReplaced(this.#generation);
        return;
      }
      this.#add("missing", projectionKey(this.#generation, key));
    }
  }

  /** Whether the entry is a record that the log up to the position of the audit makes. */
  #isExpected(entry: StoreEntry): boolean {
    const key = entry.key.slice(2);
    if (!isProjectionKey(this.#application, key)) return false;
    const content = checkedContent(entry);
    const isExpected = content !== undefined && this.#expected.has(key, content);
    if (isExpected) this.#expected.markFound(key);
    return isExpected;
  }

  async #judgeOther(entry: StoreEntry): Promise<void> {
    const key = entry.key.slice(2);
    if (!isProjectionKey(this.#application, key)) {
      const record = `Record ${formatKey(entry.key)}`;
      const message = `${record} is of a kind that no event makes; a replay removes it`;
      this.#findings.add("record_extra", message);
      return;
    }
    // Otherwise, it would also be missing.
    const isAltered = await this.#isExpectedKey(key);
    if (isAltered) this.#expected.markFound(key);
    const content = checkedContent(entry);
    if (content !== undefined && this.#later.have(key, content)) return;
    this.#add(isAltered ? "altered" : "extra", entry.key);
  }

  /** Whether a record is expected under the whole key. Only its event has the key. */
  async #isExpectedKey(key: ProjectionKey): Promise<boolean> {
    const position = this.#expected.positionOf(key);
    if (position === 0) return false;
    const written = await this.#keysWrittenAt(position);
    return written.some((it) => keysEqual(it, key));
  }

  /** The keys of the records that the event at a position writes; none if it cannot be read any more. */
  async #keysWrittenAt(position: number): Promise<ProjectionKey[]> {
    const recorded = await readEventAt(this.#application, this.#store, position);
    if (recorded === undefined) return [];
    return project(this.#application, [recorded]).filter(({ content }) => content !== undefined)
      .map(({ key }) => key);
  }

  #add(difference: Difference, key: Key): void {
    const position = difference === "extra" ? undefined : eventNamedBy(key);
    const ofEvent = position === undefined ? "" : ` (event ${position})`;
    const message = `${describeRecord(this.#application, key)} ${DIFFERS[difference]}${ofEvent}`;
    this.#findings.add(`record_${difference}`, message, position);
  }
}

/** The record in words, for an operator. */
function describeRecord(application: Application, key: Key): string {
  const [, generation, kind, ...parts] = key;
  const described = kindOf(application, kind)?.describe?.([
    kind as string,
    ...parts as ProjectionKey,
  ]);
  return described === undefined
    ? `Record ${formatKey(key)}`
    : `${described} of generation ${generation}`;
}

/** The position at the end of the key of a record of an Idempotency-Key. The keys of other records name no event. */
function eventNamedBy(key: Key): number | undefined {
  return key[2] === IDEMPOTENCY_KIND ? Number(key.at(-1)) : undefined;
}
