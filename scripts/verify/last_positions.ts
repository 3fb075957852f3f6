import type { RecordedEvent } from "eventstore-less/definitions.ts";
import { EVENTS } from "eventstore-less/tables.ts";
import { NumberTable } from "./number_table.ts";

/** The positions of the last events of all subjects: 8 bytes for each subject whose id is a number. */
export class LastPositions {
  /** By collection. */
  #numbered = new Map<string, NumberTable>();
  #others = new Map<string, number>();

  /** Notes an event as the last one of its subject. */
  note({ type, data, position }: RecordedEvent): void {
    const { collection, id: idOf } = EVENTS[type];
    const id = idOf(data);
    if (typeof id === "string") {
      this.#others.set(`${collection}/${id}`, position);
      return;
    }
    const table = this.#numbered.get(collection) ?? new NumberTable();
    this.#numbered.set(collection, table);
    table.set(id, position);
  }

  /** The position of the last event of the subject of an event; 0 if no event is known. */
  of({ type, data }: Pick<RecordedEvent, "type" | "data">): number {
    const { collection, id: idOf } = EVENTS[type];
    return this.at(collection, idOf(data));
  }

  /** The position of the last event of a subject; 0 if no event is known. */
  at(collection: string, id: number | string): number {
    if (typeof id === "number") return this.#numbered.get(collection)?.get(id) ?? 0;
    return this.#others.get(`${collection}/${id}`) ?? 0;
  }

  /** Forgets all subjects. */
  clear(): void {
    this.#numbered.clear();
    this.#others.clear();
  }
}
