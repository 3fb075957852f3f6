/**
 * What an application says about its events and records, for `eventstore-less/application`. It loads nothing that needs the
 * application, so the modules that `eventstore-less/application` imports use no other door at run time.
 */

export type {
  Body,
  Collection,
  Counts,
  DecidedEvent,
  EventDefinition,
  EventDefinitions,
  EventMetadata,
  EventType,
  Head,
  History,
  KeyElement,
  KindDefinition,
  ProjectionKey,
  ProjectionRecord,
  Recorded,
  RecordedData,
  RecordedEvent,
  RecordedLine,
  SubjectState,
  TypeSummary,
} from "../definitions.ts";
export { OPERATOR } from "../log/actor.ts";
export { dataOf } from "../log/line_text.ts";
