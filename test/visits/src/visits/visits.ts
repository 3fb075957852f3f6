/** All that the engine must know of visits to a vet: their event, its records, and the rules of its history. */

import {
  type Collection,
  dataOf,
  type EventDefinitions,
  type Head,
  type History,
  type RecordedLine,
} from "eventstore-less";
import { Visit, type VisitEventBody } from "../../events/visit.ts";

const VISIT_EVENTS: EventDefinitions<VisitEventBody> = {
  VisitBooked: {
    data: Visit,
    release: "6.1",
    id: ({ id }) => id,
    isFirst: true,
    project({ event: { data: { id } }, line }) {
      return [{ key: visitKey(id), content: dataOf(line) }];
    },
    tally: () => [["booked", 1]],
  },
};

/** The record of a visit: its JSON text. */
export function visitKey(id: number) {
  return ["visit", id];
}

/** Each visit has the next id. */
class VisitHistory implements History {
  /** `undefined` after lines that are missing or could not be read. */
  #lastId: number | undefined = 0;

  check({ event }: RecordedLine<VisitEventBody>): string[] {
    if (event.type !== "VisitBooked") return [];
    const { id } = event.data;
    const expected = this.#lastId === undefined ? id : this.#lastId + 1;
    this.#lastId = id;
    return id === expected ? [] : [`it books visit ${id}, but visit ${expected} was expected`];
  }

  lose(): void {
    this.#lastId = undefined;
  }
}

/** The number of visits, and the id of the last one. */
export function visitCount({ counts }: Pick<Head, "counts">): number {
  return counts.visits?.booked ?? 0;
}

export const VISITS: Collection<VisitEventBody> = {
  name: "visits",
  isId: (text) => /^[1-9]\d{0,14}$/.test(text),
  exampleId: "7",
  events: VISIT_EVENTS,
  personal: ["visitor"],
  kinds: {
    visit: {
      key: ["number"],
      owner: ([, id]) => `visit ${id}`,
    },
  },
  newHistory: () => new VisitHistory(),
};
