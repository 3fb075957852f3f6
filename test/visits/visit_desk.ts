/** The commands of the visits on the engine's appender: each is prepared by a read, and decided by a pure rule. */

import { type Head, OPERATOR, type RecordedEvent } from "eventstore-less/definitions";
import { type Appender, type Command, findEarlierEvent } from "eventstore-less/append";
import { contentOf, projectionKey, readProof } from "eventstore-less/projections";
import { ServiceError } from "eventstore-less/errors";
import type { Store } from "eventstore-less/store";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { bookedCount, type EventBody, type Visit, visitKey } from "./visits.ts";

/** Maximum number of visits on a day. */
export const DAY_LIMIT = 2;

interface DeskDeps {
  appender: Appender;
  runtime: Runtime;
  store: Store;
}

/** What a command has read. */
interface Prepared {
  /** The event that its Idempotency-Key has caused before. */
  earlier?: RecordedEvent;
  /** The last event of its visit. */
  before?: RecordedEvent;
}

type Rule = (head: Head, before: RecordedEvent | undefined) => EventBody;

export class VisitDesk {
  readonly #deps: DeskDeps;

  constructor(deps: DeskDeps) {
    this.#deps = deps;
  }

  book(day: string, who: string, idempotencyKey?: string): Promise<RecordedEvent> {
    return this.#write(undefined, idempotencyKey, (head) => {
      expectRoom(head, day);
      return { type: "VisitBooked", data: { id: bookedCount(head) + 1, day, who } };
    });
  }

  move(id: number, day: string): Promise<RecordedEvent> {
    return this.#write(id, undefined, (head, before) => {
      const { day: from, who } = expectBooked(before);
      expectRoom(head, day);
      return { type: "VisitMoved", data: { id, day, who, from } };
    });
  }

  cancel(id: number): Promise<RecordedEvent> {
    return this.#write(id, undefined, (_head, before) => {
      const { day, who } = expectBooked(before);
      return { type: "VisitCancelled", data: { id, day, who } };
    });
  }

  async #write(id: number | undefined, idempotencyKey: string | undefined, rule: Rule) {
    const { appender, runtime, store } = this.#deps;
    const eventId = runtime.newId();
    const timeMs = runtime.now();
    const metadata = { id: eventId, time: new Date(timeMs).toISOString(), actor: OPERATOR };
    const command: Command<Prepared> = {
      subject: id === undefined ? undefined : `visits/${id}`,
      idempotencyKey,
      async prepare({ head }) {
        const before = id === undefined ? undefined : await lastEventOf(store, head, id);
        if (idempotencyKey === undefined) return { before };
        const use = { actor: OPERATOR, idempotencyKey, timeMs };
        return { before, earlier: await findEarlierEvent(store, head, use) };
      },
      decide(head, { earlier, before }, last) {
        if (earlier !== undefined) return [];
        const lastEvent = last ?? before;
        const body = rule(head, lastEvent);
        return [{ ...body, ...metadata, idempotencyKey, predecessor: lastEvent?.position }];
      },
    };
    const { events: [event], prepared: { earlier } } = await appender.append(command);
    return event ?? earlier!;
  }
}

/** The event that made the record of a visit; `undefined` if it has none. */
async function lastEventOf(store: Store, { generation }: Head, id: number) {
  const entry = await store.get(projectionKey(generation, visitKey(id)));
  if (entry === null) return undefined;
  const position = parseInt(new TextDecoder().decode(contentOf(entry)));
  return (await readProof(store, position)).event;
}

function expectBooked(before: RecordedEvent | undefined): Visit {
  if (before !== undefined && before.type !== "VisitCancelled") return before.data;
  throw new ServiceError("visit_not_found", "The visit is not booked");
}

function expectRoom({ counts }: Head, day: string): void {
  if ((counts.visits?.[day] ?? 0) < DAY_LIMIT) return;
  throw new ServiceError("day_is_full", `There are ${DAY_LIMIT} visits on ${day}`);
}
