/** Bookings of rooms: an application that knows nothing of animals, for the tests of the tools. */

import {
  type Collection,
  dataOf,
  defineApplication,
  type EventStore,
  openEventStore,
} from "eventstore-less";
import { systemRuntime } from "eventstore-less/startup";
import { z } from "zod";

const Booking = z.strictObject({ id: z.string(), day: z.string(), guest: z.string() });

export type BookingMade = { type: "BookingMade"; data: z.infer<typeof Booking> };

const BOOKINGS: Collection<BookingMade> = {
  name: "bookings",
  isId: (text) => /^\d+$/.test(text),
  exampleId: "7",
  events: {
    BookingMade: {
      data: Booking,
      release: "1.0",
      id: ({ id }) => id,
      isFirst: true,
      project: ({ event, line }) => [{ key: ["booking", event.data.id], content: dataOf(line) }],
      tally: () => [["made", 1]],
    },
  },
  personal: ["guest"],
  kinds: { booking: { key: ["text"], owner: ([, id]) => `booking ${id}` } },
  summaryOf: ({ made = 0 }) => ({ bookings: made }),
};

export const application = defineApplication({ name: "Room Bookings", collections: [BOOKINGS] });

export type Bookings = EventStore<BookingMade>;

/** The time of the first event. Each commit is a minute later. */
export const START_MS = Date.UTC(2026, 0, 1);
export const MINUTE_MS = 60_000;

let now = START_MS;
const runtime = { ...systemRuntime, now: () => now };

/** Opens a store, and makes that many bookings in commits of this size, of which each fits one record. Booking 7 is event 7. */
export async function openBookings(
  location: string,
  { count = 0, together = 20 } = {},
): Promise<Bookings> {
  const store = await openEventStore(application, location, { runtime });
  now = START_MS;
  for (let made = 0; made < count; made += together) {
    await book(store, Math.min(together, count - made));
    now += MINUTE_MS;
  }
  return store;
}

/** Makes so many bookings in one commit. */
export async function book(store: Bookings, count = 1): Promise<void> {
  await store.append({
    decide: ({ position }) =>
      Array.from({ length: count }, (_, index): BookingMade => {
        const id = String(position + index + 1);
        return { type: "BookingMade", data: { id, day: "2026-12-24", guest: `Guest ${id}` } };
      }),
  });
}
