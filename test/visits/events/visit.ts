/** A visit to a vet, and its event: the guide copies it to `events/`. */

import { z } from "zod";

export const NewVisit = z.strictObject({
  day: z.iso.date({ error: "must be a date, for example 2026-01-31" })
    .meta({ description: "The day of the visit" }),
  visitor: z.string({ error: "must be a text" }).min(1, "must not be empty").max(100)
    .meta({ description: "The name of the visitor" }),
});
export type NewVisit = z.infer<typeof NewVisit>;

/** A visit with the identifier given by the service: 1, 2, 3 … */
export const Visit = z.strictObject({
  id: z.bigint().min(1n).max(BigInt(Number.MAX_SAFE_INTEGER))
    .meta({ description: "The identifier of the visit, given by the service" })
    .transform(Number),
  ...NewVisit.shape,
});
export type Visit = z.infer<typeof Visit>;

export type VisitEventBody = { type: "VisitBooked"; data: Visit };
