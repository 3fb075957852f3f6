import type { Application } from "../application.ts";
import type { DecidedEvent } from "../definitions.ts";

/** Throws `TypeError` if the log could not hold an event, or could not give it back. */
export function expectStorable({ events, name }: Application, { type }: DecidedEvent): void {
  if (Object.hasOwn(events, type)) return;
  throw new TypeError(`${name} does not define the event type ${JSON.stringify(type)}`);
}
