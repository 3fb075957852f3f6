import { type Head, type ProjectionKey, type Runtime, ServiceError } from "eventstore-less";
import {
  damagedError,
  type HeadReader,
  kindPrefix,
  projectionKey,
  readProof,
  sha256Hex,
} from "eventstore-less/parts";
import { scan, type Store, type StoreDamagedError, type StoreEntry } from "eventstore-less/store";
import type { RecordedEvent } from "../../events/all_events.ts";
import { APPLICATION } from "../application.ts";
import { commandName } from "../runtime/words.ts";

/** After this time in milliseconds, no further attempt to read the records begins. */
const READ_LIMIT_MS = 1_000;

/** Number of records that are proven together, which takes milliseconds. Then other requests have a turn. */
const PROOFS_AT_ONCE = 100;

/** A subject as its record has it. */
export interface SubjectRecord {
  id: bigint | string;
  /** The JSON text that clients read. */
  text: string;
  /** Position of its last event. */
  position: number;
  /** Whether the line of that event has proven the record. */
  isProven: boolean;
}

/** All subjects of a collection. */
export interface SubjectRecords<Subject extends SubjectRecord> {
  /** They are as of this head, and as of later ones until the next event of any of them. */
  head: Head;
  /** In the order of their ids. */
  byId: ReadonlyMap<Subject["id"], Subject>;
  /** A JSON array of all. */
  text: string;
  /** SHA-256 (hex) of the text. */
  hash: string;
  /** The text in gzip, once a client has asked for it. */
  cachedGzip?: Promise<Uint8Array>;
}

/** What the reader must know of a collection. */
export interface ReadCollection<Subject extends SubjectRecord> {
  /** For messages, in the plural. */
  name: string;
  /** The kind of its records, one for each subject. */
  kind: string;
  /** How many records there are. */
  countAt(head: Head): number;
  /** Position of the last event of any subject; 0 without one. */
  positionAt(head: Head): number;
  /** Decodes a record, which is not proven yet. Throws `projection_damaged`. */
  decode(entry: StoreEntry): Subject;
  /** Whether that event makes the record. */
  follows(subject: Subject, event: RecordedEvent): boolean;
  /** The key of the record of a subject. */
  keyOf(subject: Subject): ProjectionKey;
}

export interface CollectionReaderDeps {
  heads: Pick<HeadReader, "read">;
  runtime: Pick<Runtime, "monotonicNow" | "nextTurn">;
  store: Store;
  /** The known damage of the store's file. */
  storeDamage: () => StoreDamagedError | undefined;
}

/** Reads all records of a small collection together, and caches them until the next event of it. */
export class CollectionReader<Subject extends SubjectRecord> {
  readonly #of: ReadCollection<Subject>;
  readonly #deps: CollectionReaderDeps;
  #cached: SubjectRecords<Subject> | undefined;
  /** The read under way, and the head that it began at. */
  #reading: { head: Head; records: Promise<SubjectRecords<Subject>> } | undefined;

  constructor(of: ReadCollection<Subject>, deps: CollectionReaderDeps) {
    this.#of = of;
    this.#deps = deps;
  }

  /**
   * The records as of a head or a later one. Rejects with `projection_damaged`, with `store_unavailable` if they changed
   * during each read, and as {@linkcode Store.list}. Throws `StoreDamagedError` if the store's file is known to be
   * damaged, because that can hide records.
   */
  asOf(head: Head): SubjectRecords<Subject> | Promise<SubjectRecords<Subject>> {
    const damage = this.#deps.storeDamage();
    if (damage !== undefined) throw damage;
    if (this.#cached !== undefined && !this.#isBefore(this.#cached.head, head)) return this.#cached;
    if (this.#reading === undefined || this.#isBefore(this.#reading.head, head)) {
      const records = this.#read(head).then((read) => this.#keep(read));
      this.#reading = { head, records };
      const forget = () => {
        if (this.#reading?.records === records) this.#reading = undefined;
      };
      records.then(forget, forget);
    }
    return this.#reading.records;
  }

  /** The records as asOf() returns them, but each is proven by the line of its last event, for a decision. */
  async proven(head: Head): Promise<SubjectRecords<Subject>> {
    const records = await this.asOf(head);
    const unproven = [...records.byId.values()].filter(({ isProven }) => !isProven);
    for (let start = 0; start < unproven.length; start += PROOFS_AT_ONCE) {
      if (start > 0) await this.#deps.runtime.nextTurn();
      const next = unproven.slice(start, start + PROOFS_AT_ONCE);
      await Promise.all(next.map((subject) => this.#prove(subject, head)));
    }
    return records;
  }

  /** The error about a subject whose record does not follow from the event that it names. */
  damagedError(subject: Subject, { generation }: Head): ServiceError {
    const key = projectionKey(generation, this.#of.keyOf(subject));
    return damagedError(APPLICATION, key, "does not follow from its event");
  }

  /**
   * The records are not read at one moment. They are as of `head` if a head that is read after them shows no later event
   * of the collection.
   */
  async #read(head: Head): Promise<SubjectRecords<Subject>> {
    const { heads, runtime, store } = this.#deps;
    const deadline = runtime.monotonicNow() + READ_LIMIT_MS;
    let asOf = head;
    do {
      const prefix = kindPrefix(asOf.generation, this.#of.kind);
      const entries = await Array.fromAsync(scan(store, { prefix }));
      const { head: now } = await heads.read();
      if (!this.#isBefore(asOf, now)) return this.#recordsOf(entries.flat(), now);
      asOf = now;
    } while (runtime.monotonicNow() <= deadline);
    const message = `The ${this.#of.name} were changed during each read of them`;
    throw new ServiceError("store_unavailable", message);
  }

  /** Throws `projection_damaged`, also if a record is missing. */
  #recordsOf(entries: readonly StoreEntry[], head: Head): SubjectRecords<Subject> {
    this.#expectCount(entries.length, head);
    const subjects = entries.map((entry) => this.#subjectOf(entry))
      .sort((one, other) => one.id < other.id ? -1 : 1);
    const text = `[${subjects.map((subject) => subject.text).join(",")}]`;
    const byId = new Map(subjects.map((subject) => [subject.id, subject]));
    return { head, byId, text, hash: sha256Hex(text) };
  }

  /** If a record has not changed, returns the subject that is proven already. Throws `projection_damaged`. */
  #subjectOf(entry: StoreEntry): Subject {
    const read = this.#of.decode(entry);
    const known = this.#cached?.byId.get(read.id);
    const isUnchanged = known?.text === read.text && known.position === read.position;
    return isUnchanged && known.isProven ? known : read;
  }

  #expectCount(count: number, head: Head): void {
    const expected = this.#of.countAt(head);
    if (count === expected) return;
    const message = `The store has ${count} ${this.#of.name}, but the head counts ${expected}`;
    throw new ServiceError("projection_damaged", message, { cause: `run ${commandName("audit")}` });
  }

  #keep(read: SubjectRecords<Subject>): SubjectRecords<Subject> {
    const isNewer = this.#cached === undefined || this.#isBefore(this.#cached.head, read.head);
    if (isNewer) this.#cached = read;
    return read;
  }

  async #prove(subject: Subject, head: Head): Promise<void> {
    const { event } = await readProof(APPLICATION, this.#deps.store, subject.position);
    if (!this.#of.follows(subject, event)) throw this.damagedError(subject, head);
    subject.isProven = true;
  }

  /** Whether subjects may differ at a later head, or a replay may have written their records again. */
  #isBefore(one: Head, later: Head): boolean {
    if (one.generation !== later.generation) return one.generation < later.generation;
    return this.#of.positionAt(one) < this.#of.positionAt(later);
  }
}
