import { dataOf } from "eventstore-less";
import { type StoredLine, subjectOf } from "eventstore-less/parts";
import type { EventType, RecordedEvent } from "../../events/all_events.ts";
import { APPLICATION } from "../../src/application.ts";
import { blue, cyan, dim, green, magenta, red, yellow } from "@std/fmt/colors";
import { Pet } from "../../events/pet.ts";
import { escapeInvisible } from "../../src/runtime/escape_invisible.ts";

/** The colours of types; others are blue. */
const COLORS: Partial<Record<EventType, (text: string) => string>> = {
  PetCreated: green,
  PetRemoved: red,
  PetRestored: green,
  ApiKeyIssued: cyan,
  ApiKeyRevoked: yellow,
  CategoryNamed: green,
  CategoryRemoved: red,
};

const POSITION_WIDTH = 8;
const TYPE_WIDTH = 15;
const SUBJECT_WIDTH = "keys/".length + 26;

/** Formats a stored line for people. `event` is that of the line, if it has one. `labels` are those of the keys by id. */
export function prettyEvent(
  { position, line }: StoredLine,
  event: RecordedEvent | undefined,
  labels: ReadonlyMap<string, string>,
): string {
  if (event === undefined) {
    // The content of such a line is not printed, because it could contain terminal control sequences.
    return red(`${"".padEnd(24)} ${String(position).padStart(POSITION_WIDTH)} is not an event`);
  }
  const label = labels.get(event.actor);
  const color = COLORS[event.type] ?? blue;
  return [
    dim(event.time),
    String(position).padStart(POSITION_WIDTH),
    color(event.type.padEnd(TYPE_WIDTH)),
    subjectOf(APPLICATION, event).padEnd(SUBJECT_WIDTH),
    magenta(event.actor),
    ...(label === undefined ? [] : [escapeInvisible(JSON.stringify(label))]),
    escapeInvisible(shownData(event, line)),
  ].join(" ");
}

/** The data as JSON. Of a change, only the changed fields, and the members that are not of the animal. */
function shownData({ data }: RecordedEvent, line: Uint8Array): string {
  if ("tokenHash" in data) {
    // The hash of a key says nothing to people, and its id is the subject.
    const { keyId: _, tokenHash: __, ...others } = data;
    return JSON.stringify(others);
  }
  const { previous, ...others } = { previous: undefined, ...data };
  if (previous === undefined) return new TextDecoder().decode(dataOf(line));
  const after: Record<string, unknown> = others;
  const changes = Object.entries(previous).map(([name, before]) => {
    return `${name} ${shown(name, before)} -> ${shown(name, after[name])}`;
  });
  const own = Object.entries(after).filter(([name]) => !Object.hasOwn(Pet.shape, name));
  return [...changes, ...own.map(([name, value]) => `${name} ${shown(name, value)}`)].join(", ");
}

/** A status is a word, and every other text is quoted. */
function shown(name: string, value: unknown): string {
  const isText = typeof value === "string" && name !== "status";
  return isText ? JSON.stringify(value) : String(value ?? "none");
}
