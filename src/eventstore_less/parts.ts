/**
 * The parts of which `openEventStore()` makes a store, for a program that puts them together itself: a service that keeps
 * caches, answers many readers at once, or follows the log for many clients. A program that only needs a store imports
 * `eventstore-less` alone.
 *
 * @module
 */

export { APPEND_LIMIT_MS, Appender, type AppenderDeps, type Committed } from "./append/appender.ts";
export type { Appended, Command, ReadNotes } from "./append/command.ts";
export type { EventEntry, KindEntry } from "./application.ts";
export type { CompleteCollection, CompleteEvent, CompleteKind } from "./complete_collection.ts";
export type { DecidedEvent } from "./definitions.ts";
export { readConsumersOf } from "./consumers/consumer_report.ts";
export { assertNever } from "./encoding/assert_never.ts";
export { joinLines } from "./encoding/pack_lines.ts";
export { encodeUtf8Pooled } from "./encoding/pooled_bytes.ts";
export { sha256Hex } from "./encoding/sha256.ts";
export type { EncodedText } from "./encoding/text_buffer.ts";
export {
  BackgroundWork,
  type BackgroundWorkKind,
  type ForegroundRequest,
} from "./feed/background_work.ts";
export {
  EventCursor,
  type EventFilter,
  type EventPart,
  followedParts,
  NO_LINES,
  type PartLimits,
} from "./feed/event_cursor.ts";
export {
  EventFeed,
  FEED_ID_PATTERN,
  type FeedEvent,
  type FeedLine,
  feedPositionOf,
  jsonOf,
  messageOf,
  type Place,
} from "./feed/event_feed.ts";
export { Follower, type FollowerOptions, Followers, type FollowersDeps } from "./feed/followers.ts";
export {
  IdempotencyKeySweep,
  type IdempotencyKeySweepDeps,
} from "./idempotency/idempotency_key_sweep.ts";
export { idempotencyHash } from "./idempotency/idempotency_hash.ts";
export type { IdempotencyKeyUse } from "./idempotency/earlier_events.ts";
export { usedParts } from "./idempotency/used_parts.ts";
export { GUARD_KEYS, kindPrefix, projectionKey } from "./keyspace.ts";
export { acceptAppends, acceptFilledLog, acceptLog } from "./log/accept_store.ts";
export { isErased } from "./log/erased.ts";
export {
  encodePublicEvent,
  type Extensions,
  schemaOf,
  subjectOf,
  withExtensions,
} from "./log/event.ts";
export { EMPTY_HEAD, ForeignStoreError, type HeadEntry, readStoreFormat } from "./log/head.ts";
export {
  HeadLostError,
  HeadReader,
  type HeadSnapshot,
  type ProjectionRange,
} from "./log/head_reader.ts";
export { sequenceOf } from "./log/line_text.ts";
export { eventOf } from "./log/lines.ts";
export { readLog, secondsSinceEvent, type StoredLine } from "./log/read_log.ts";
export { expectRightClock, isTimeOfLog } from "./log/time_of_log.ts";
export {
  contentOf,
  damagedError,
  decodeRecord,
  proveRecord,
  readEvents,
  readProof,
} from "./projections/project.ts";
export { BoundedCache } from "./runtime/bounded_cache.ts";
export { andThen, backoffMs, sleep } from "./runtime/runtime.ts";
export { changeUnlogged, readUnlogged, type UnloggedName } from "./unlogged_record.ts";
