/** The events in CSV, for people with a spreadsheet: an accountant, or the next owner of the catalogue. */

import { type StoredLine, subjectOf } from "eventstore-less/parts";
import type { RecordedEvent } from "../../events/all_events.ts";
import { APPLICATION } from "../../src/application.ts";
import { z } from "zod";
import { type CsvCell, csvLine } from "../../src/encoding/csv_line.ts";

/** The members without a column: the subject says the ids, and the hash of a token says nothing to people. */
const WITHOUT_COLUMN = ["id", "keyId", "tokenHash"];

/** The members of the data of all events. A member of an object in it has both names: `previous.name`. */
const DATA_COLUMNS = [
  ...new Set(APPLICATION.eventTypes.flatMap((type) => columnsOf(APPLICATION.events[type].data))),
];

const COLUMNS = ["position", "time", "type", "subject", "actor", "actorLabel", ...DATA_COLUMNS];

function columnsOf({ shape }: z.ZodObject): string[] {
  const names = Object.keys(shape).filter((name) => !WITHOUT_COLUMN.includes(name));
  return names.flatMap((name) => {
    const optional = shape[name];
    const member = optional instanceof z.ZodOptional ? optional.unwrap() : optional;
    if (!(member instanceof z.ZodObject)) return [name];
    return columnsOf(member).map((inner) => `${name}.${inner}`);
  });
}

/** Without a byte order mark, spreadsheets take UTF-8 for another encoding. */
export const CSV_HEADER = `\ufeff${csvLine(COLUMNS)}`;

/** One row of CSV, with its line break. The parameters are those of `prettyEvent()`. */
export function csvEvent(
  { position }: StoredLine,
  event: RecordedEvent | undefined,
  labels: ReadonlyMap<string, string>,
): string {
  if (event === undefined) return csvLine([position, "", "not an event"]);
  return csvLine([
    position,
    event.time,
    event.type,
    subjectOf(APPLICATION, event),
    event.actor,
    labels.get(event.actor) ?? "",
    ...DATA_COLUMNS.map((column) => cellOf(valueIn(event.data, column))),
  ]);
}

function valueIn(data: object, column: string): unknown {
  return column.split(".").reduce((value: unknown, name) => {
    return (value as Record<string, unknown> | undefined)?.[name];
  }, data);
}

/** If the animal did not have a field before the change, its former value is `none`. */
function cellOf(value: unknown): CsvCell {
  if (value === null) return "none";
  const isNumber = typeof value === "number" || typeof value === "bigint";
  return isNumber ? value : String(value ?? "");
}
