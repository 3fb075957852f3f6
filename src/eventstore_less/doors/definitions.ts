/**
 * The definitions of events and records that an application gives to the engine. This door loads nothing that imports
 * `eventstore-less/application`, so it is the only one that the modules of that import use at run time.
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
