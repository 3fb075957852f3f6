/** The events in CSV, for people with a spreadsheet: an accountant, or the next owner of the catalogue. */

import type { RecordedEvent } from "eventstore-less/definitions.ts";
import { subjectOf } from "eventstore-less/log/event.ts";
import type { StoredLine } from "eventstore-less/log/read_log.ts";
import { NewPet } from "../../events/pet.ts";
import { csvLine, withoutFormula } from "../../src/window/csv/csv_line.ts";

const PET_FIELDS = Object.keys(NewPet.shape);

/** The members of the events of keys, without the hash of the token, which says nothing to people. */
const KEY_FIELDS = ["label", "expiresAt", "readOnly", "effectiveAt"];

const COLUMNS = [
  ...["position", "time", "type", "subject", "actor", "actorLabel"],
  ...PET_FIELDS,
  ...PET_FIELDS.map((name) => `previous.${name}`),
  ...KEY_FIELDS,
];

/** Without a byte order mark, spreadsheets take UTF-8 for another encoding. */
export const CSV_HEADER = `\ufeff${csvLine(COLUMNS)}`;

/** One row of CSV, with its line break. The parameters are those of `prettyEvent()`. */
export function csvEvent(
  { position }: StoredLine,
  event: RecordedEvent | undefined,
  labels: ReadonlyMap<string, string>,
): string {
  if (event === undefined) return csvLine([String(position), "", "not an event"]);
  const data: Record<string, unknown> = { ...event.data };
  const previous = event.type === "PetUpdated" ? event.data.previous : {};
  const before: Record<string, unknown> = { ...previous };
  return csvLine([
    String(position),
    event.time,
    event.type,
    subjectOf(event),
    event.actor,
    cellOf(labels.get(event.actor)),
    ...PET_FIELDS.map((name) => cellOf(data[name])),
    ...PET_FIELDS.map((name) => cellOf(before[name])),
    ...KEY_FIELDS.map((name) => cellOf(data[name])),
  ]);
}

/** A spreadsheet that separates by semicolons begins a cell after each of these, also within a quoted text. */
const BEGINS_CELL = /(?<=[;\r\n])/;

/** The text of a cell. If the animal did not have a field before the change, its former value is `none`. */
function cellOf(value: unknown): string {
  if (value === null) return "none";
  if (typeof value !== "string") return String(value ?? "");
  return value.split(BEGINS_CELL).map(withoutFormula).join("");
}
