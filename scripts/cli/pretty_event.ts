import { cyan, dim, green, magenta, red, yellow } from "@std/fmt/colors";
import {
  type EventType,
  MalformedEventError,
  type RecordedEvent,
  subjectOf,
} from "../../events/event.ts";
import { decodeLine } from "../../src/log/log_verifier.ts";
import type { WholeLine } from "../../src/log/read_whole_log.ts";

const COLORS: Record<EventType, (text: string) => string> = {
  PetCreated: green,
  ApiKeyIssued: cyan,
  ApiKeyRevoked: yellow,
};

const POSITION_WIDTH = 8;
const TYPE_WIDTH = 13;
/** `keys/` and a ULID. */
const SUBJECT_WIDTH = 31;

/** Formats a stored line for people: time, position, type, subject and actor of its event. */
export function prettyEvent({ position, value }: WholeLine): string {
  let event: RecordedEvent;
  try {
    event = decodeLine(value);
  } catch (error) {
    if (!(error instanceof MalformedEventError)) throw error;
    // The content of such a line is not printed, because it could contain terminal control sequences.
    return red(`${"".padEnd(24)} ${String(position).padStart(POSITION_WIDTH)} is not an event`);
  }
  return [
    dim(event.time),
    String(position).padStart(POSITION_WIDTH),
    COLORS[event.type](event.type.padEnd(TYPE_WIDTH)),
    subjectOf(event).padEnd(SUBJECT_WIDTH),
    magenta(event.actor),
  ].join(" ");
}
