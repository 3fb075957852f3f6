import type { RecordedEvent, RecordedLine, SubjectState } from "eventstore-less/definitions.ts";
import { EVENTS } from "eventstore-less/tables.ts";
import { DigestTable } from "./digest_table.ts";

const NOTHING = new Uint8Array();

/**
 * Each subject as the lines so far leave it: the position of its last event and, if its id is a number, a digest of what
 * the event has left. That takes 16 bytes for each such subject, because a log may have millions of them.
 */
export class SubjectStates {
  /** By collection. The value of a subject is the position of its last event. */
  #numbered = new Map<string, DigestTable>();
  /** The positions of the last events of the other subjects. */
  #others = new Map<string, number>();

  /** The subject of an event, before that event is noted. */
  before({ type, data }: RecordedEvent): SubjectState {
    const { collection, id: idOf } = EVENTS[type];
    const id = idOf(data);
    return {
      position: this.lastPositionOf(collection, id),
      hasLeft: (content) => typeof id === "number" && this.hasLeft(collection, id, content),
    };
  }

  /** Notes an event as the last one of its subject. */
  note(recorded: RecordedLine): void {
    const { type, data, position } = recorded.event;
    const { collection, id: idOf, leaves } = EVENTS[type];
    const id = idOf(data);
    if (typeof id === "string") {
      this.#others.set(`${collection}/${id}`, position);
      return;
    }
    const table = this.#numbered.get(collection) ?? new DigestTable();
    this.#numbered.set(collection, table);
    table.set(id, leaves?.content(recorded) ?? NOTHING, position);
  }

  /** The position of the last event of a subject; 0 if no event is known. */
  lastPositionOf(collection: string, id: number | string): number {
    if (typeof id === "number") return this.#numbered.get(collection)?.valueAt(id) ?? 0;
    return this.#others.get(`${collection}/${id}`) ?? 0;
  }

  /** Whether the last event of a subject has left that content. */
  hasLeft(collection: string, id: number, content: Uint8Array): boolean {
    return this.#numbered.get(collection)?.has(id, content) ?? false;
  }

  /** The positions of the last events of the subjects with a number. */
  *lastPositions(): Generator<number> {
    for (const table of this.#numbered.values()) yield* table.values();
  }

  /** Forgets all subjects. */
  clear(): void {
    this.#numbered.clear();
    this.#others.clear();
  }
}
