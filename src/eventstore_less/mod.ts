/**
 * An event store as a library: define an application, open a store of its events, append, read, list and follow.
 * Commands decide their events on exactly the state that their commit replaces, and each is stored exactly once.
 *
 * ```ts
 * const application = defineApplication({ name: "Invoices", collections: [INVOICES] });
 * await using store = await openEventStore(application, "invoices.sqlite3");
 * await store.append({ decide: () => [{ type: "InvoiceIssued", data }] });
 * const { head, value } = await store.read(["invoice", "2026-1"]);
 * ```
 *
 * @module
 */

// Define an application.
export {
  type Application,
  type ApplicationDefinition,
  defineApplication,
  type EventBodyOf,
} from "./application.ts";
export {
  type Addition,
  type Body,
  type BodyOf,
  type Collection,
  type CollectionOf,
  type Counts,
  defineCollection,
  type EventDefinition,
  type EventDefinitions,
  type EventMetadata,
  type Head,
  type History,
  type KeyElement,
  type KindDefinition,
  type ProjectionKey,
  type ProjectionRecord,
  type Recorded,
  type RecordedData,
  type RecordedLine,
  type Release,
  type SubjectState,
  type TypeSummary,
} from "./definitions.ts";
export { encodeJson } from "./encoding/json.ts";
export { dataOf } from "./log/line_text.ts";
export { recordOf } from "./projections/record_content.ts";

// Open a store of its events, and use it.
export type { CommandSnapshot, DecisionContext, EventCommand, NewEvent } from "./event_command.ts";
export type { Idempotency } from "./idempotency/idempotency_hash.ts";
export {
  EventStore,
  type EventStoreOptions,
  type FollowOptions,
  type Instance,
  openEventStore,
  type OpenEventStoreOptions,
  type Outcome,
  type StoreOf,
} from "./event_store.ts";
export type { RecordList, RecordListOptions } from "./record_reader.ts";
export { OPERATOR } from "./log/actor.ts";

export type { ConsumerContext, ConsumerHandler, ConsumerOptions } from "./consumers/consumer.ts";
export type { ConsumerHandle, ConsumerState } from "./consumers/consumer_group.ts";
export type { Failing } from "./consumers/consumer_record.ts";

// What it tells, and what it is given of its surroundings.
export { type Instrumentation, NO_INSTRUMENTATION } from "./runtime/instrumentation.ts";
export type { Logger } from "./runtime/logger.ts";
export type { Runtime } from "./runtime/runtime.ts";

// Its errors.
export { InvalidEventError } from "./append/storable_data.ts";
export { LogDamagedError } from "./log/read_log.ts";
export { ServiceError, type ServiceErrorCode, serviceErrorCode } from "./service_error.ts";
export { OpenStoreError } from "./store/open_store_error.ts";
