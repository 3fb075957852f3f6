/** A second application of the engine: visits to a vet, with a limit for each day. The tests of this folder run on it. */

import {
  type Collection,
  dataOf,
  type EventDefinition,
  type EventDefinitions,
  type Head,
  type History,
  type KindDefinition,
  type RecordedData,
  type RecordedLine,
  type SubjectState,
} from "eventstore-less/definitions";
import { Buffer } from "node:buffer";
import { z } from "zod";

export const NAME = "Vet Visits";

export type RefusalCode = "day_is_full" | "visit_not_found";

/** Integers of a line are `bigint`. */
const Visit = z.strictObject({
  id: z.bigint().transform(Number),
  day: z.iso.date(),
  who: z.string(),
});
export type Visit = z.infer<typeof Visit>;

const MovedVisit = Visit.extend({ from: z.iso.date() });
type MovedVisit = z.infer<typeof MovedVisit>;

export type EventBody =
  | { type: "VisitBooked"; data: Visit }
  | { type: "VisitMoved"; data: MovedVisit }
  | { type: "VisitCancelled"; data: Visit };

/** Number of visits that were ever booked. Each one has the next number as its id. */
export function bookedCount({ types }: Pick<Head, "types">): number {
  return types.VisitBooked?.count ?? 0;
}

export function visitKey(id: number) {
  return ["visit", id];
}

function byDayKey(day: string, id: number) {
  return ["visit_by_day", day, id];
}

function cancelledKey(id: number) {
  return ["cancelled_visit", id];
}

/** The content of both records of a visit: the position of its last event, and that event's data. */
function contentOf({ event: { position }, line }: RecordedData<Visit>): Uint8Array {
  return Buffer.concat([Buffer.from(`${position} `), dataOf(line)]);
}

function cancelledContent({ event: { position } }: RecordedData<Visit>): Uint8Array {
  return Buffer.from(`${position} cancelled`);
}

/** The visit in a content; `undefined` if the visit was cancelled. */
export function visitIn(content: Uint8Array): Visit | undefined {
  const text = new TextDecoder().decode(content);
  const data = text.slice(text.indexOf(" ") + 1);
  return data === "cancelled" ? undefined : JSON.parse(data);
}

const COMMON = { release: "1", id: ({ id }: Visit) => id } as const;

const OF_VISIT = {
  ...COMMON,
  data: Visit,
  shown: ({ day }) => ({ day: [day] }),
} satisfies Partial<EventDefinition<Visit>>;

const VISIT_EVENTS: EventDefinitions<EventBody> = {
  VisitBooked: {
    ...OF_VISIT,
    isFirst: true,
    project(recorded) {
      const { id, day } = recorded.event.data;
      const content = contentOf(recorded);
      return [{ key: visitKey(id), content }, { key: byDayKey(day, id), content }];
    },
    tally: ({ day }) => [[day, 1]],
  },
  VisitMoved: {
    ...COMMON,
    data: MovedVisit,
    isFirst: false,
    project(recorded) {
      const { id, day, from } = recorded.event.data;
      const content = contentOf(recorded);
      return [
        { key: byDayKey(from, id) },
        { key: visitKey(id), content },
        { key: byDayKey(day, id), content },
      ];
    },
    tally: ({ day, from }) => [[from, -1], [day, 1]],
    shown: ({ day, from }) => ({ day: [day, from] }),
  },
  VisitCancelled: {
    ...OF_VISIT,
    isFirst: false,
    project(recorded) {
      const { id, day } = recorded.event.data;
      const content = cancelledContent(recorded);
      return [{ key: visitKey(id) }, { key: byDayKey(day, id) }, {
        key: cancelledKey(id),
        content,
      }];
    },
    tally: ({ day }) => [[day, -1]],
    // The feed does not show why a visit does not take place.
    shown: undefined,
  },
};

const VISIT_KINDS: Record<string, KindDefinition> = {
  visit: {
    key: ["number"],
    owner: ([, id]) => `visit ${id}`,
  },
  visit_by_day: {
    key: ["text", "number"],
    owner: ([, , id]) => `visit ${id}`,
  },
  cancelled_visit: {
    key: ["number"],
    owner: ([, id]) => `visit ${id}`,
  },
};

/** Visits are booked with the next id, and only a visit that is booked is moved or cancelled. */
class VisitHistory implements History {
  #lastId: number | undefined = 0;

  check({ event }: RecordedLine, { position, hasRecord }: SubjectState): string[] {
    const { type, data: { id } } = event;
    if (type === "VisitBooked") {
      const expected = this.#lastId === undefined ? id : this.#lastId + 1;
      this.#lastId = id;
      return id === expected ? [] : [`it books visit ${id}, but visit ${expected} was expected`];
    }
    const cancelled = Buffer.from(`${position} cancelled`);
    const isBooked = position > 0 && !hasRecord(cancelledKey(id), cancelled);
    const isUnknown = position === 0 && this.#lastId === undefined;
    return isBooked || isUnknown ? [] : [`visit ${id} is not booked`];
  }

  lose(): void {
    this.#lastId = undefined;
  }
}

const VISITS: Collection<EventBody> = {
  name: "visits",
  isId: (text) => /^[1-9]\d*$/.test(text),
  exampleId: "7",
  events: VISIT_EVENTS,
  kinds: VISIT_KINDS,
  newHistory: () => new VisitHistory(),
  faultOfHead(head, lastEvents) {
    const newest = lastEvents.get("VisitBooked")?.data.id ?? 0;
    return newest === bookedCount(head) ? undefined : `its newest visit is ${newest}`;
  },
  summaryOf: (counts) => ({ visits: Object.values(counts).reduce((sum, it) => sum + it, 0) }),
};

export const COLLECTIONS = [VISITS];
