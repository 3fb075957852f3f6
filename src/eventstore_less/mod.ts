/** Event sourcing on a key-value store: define an application, open a store of its events, append, read and follow. */

export { APPEND_LIMIT_MS, Appender, type Committed } from "./append/appender.ts";
export type { Appended, Command } from "./append/command.ts";
export {
  Application,
  type ApplicationDefinition,
  defineApplication,
  type EventBodyOf,
} from "./application.ts";
export type {
  Body,
  Collection,
  Counts,
  DecidedEvent,
  EventDefinition,
  EventDefinitions,
  EventMetadata,
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
} from "./definitions.ts";
export { assertNever } from "./encoding/assert_never.ts";
export { bytesEqual } from "./encoding/bytes_equal.ts";
export { decodeJson, encodeJson } from "./encoding/json.ts";
export { joinLines, LINE_FEED, packLines, unpackLines } from "./encoding/pack_lines.ts";
export { encodeUtf8Pooled, pooledBytes } from "./encoding/pooled_bytes.ts";
export { hmacSha256Hex, sha256Hex } from "./encoding/sha256.ts";
export { BackgroundWork, type ForegroundRequest } from "./feed/background_work.ts";
export {
  EventCursor,
  type EventFilter,
  type EventPart,
  followedParts,
  NO_LINES,
} from "./feed/event_cursor.ts";
export {
  EventFeed,
  FEED_ID_PATTERN,
  feedPositionOf,
  jsonOf,
  messageOf,
  type Place,
} from "./feed/event_feed.ts";
export { Follower, Followers, FOLLOWERS_OF_KEY_LIMIT } from "./feed/followers.ts";
export { findEarlierEvent } from "./idempotency/earlier_event.ts";
export { IdempotencyKeySweep } from "./idempotency/idempotency_key_sweep.ts";
export {
  type Decision,
  EventStore,
  type EventStoreOptions,
  openEventStore,
} from "./event_store.ts";
export { createInstance, type Instance } from "./instance.ts";
export {
  GUARD_KEYS,
  HEAD_KEY,
  IDEMPOTENCY_KIND,
  IDEMPOTENCY_LIFETIME_MS,
  isLogKey,
  isProjectionKey,
  kindOf,
  kindPrefix,
  logKey,
  logMutations,
  projectionKey,
  projectionMutations,
  PROJECTIONS,
  REPLAY_KEY,
  retainedRecords,
} from "./keyspace.ts";
export {
  acceptAppends,
  acceptFilledLog,
  acceptLog,
  acceptUnlessRestoring,
  isHeadBehind,
} from "./log/accept_store.ts";
export { OPERATOR } from "./log/actor.ts";
export {
  encodeEvent,
  encodePublicEvent,
  GENESIS_HASH,
  MalformedEventError,
  NewerVersionError,
  schemaOf,
  subjectOf,
} from "./log/event.ts";
export {
  addEvent,
  decodeHeadRecord,
  draftOf,
  EMPTY_HEAD,
  encodeHead,
  ForeignStoreError,
  type HeadEntry,
  headEntryOf,
  isAsWritten,
  readHead,
  RestoreMark,
} from "./log/head.ts";
export { HEAD_LIMIT_MS, HeadLostError, HeadReader } from "./log/head_reader.ts";
export { isErased } from "./log/erased.ts";
export { dataOf, followsHash, sequenceOf } from "./log/line_text.ts";
export { eventOf, LINE_LIMIT_BYTES, readEvent, splitLines } from "./log/lines.ts";
export {
  linesOf,
  LogDamagedError,
  logTime,
  readEventAt,
  readLog,
  secondsSinceEvent,
  type StoredLine,
} from "./log/read_log.ts";
export { expectRightClock, isTimeOfLog } from "./log/time_of_log.ts";
export {
  contentOf,
  damagedError,
  decodeRecord,
  project,
  proveRecord,
  readEvents,
  readProof,
} from "./projections/project.ts";
export { BoundedCache } from "./runtime/bounded_cache.ts";
export { callCommandsBy, commandName, newFileName } from "./runtime/command_name.ts";
export { type Instrumentation, NO_INSTRUMENTATION } from "./runtime/instrumentation.ts";
export { defectOf, ENGINE_LOG_EVENTS, type Logger, reasonOf } from "./runtime/logger.ts";
export { retry } from "./runtime/retry.ts";
export { andThen, backoffMs, type Runtime, sleep } from "./runtime/runtime.ts";
export { systemRuntime } from "./runtime/system_runtime.ts";
export { ServiceError, type ServiceErrorCode, serviceErrorCode } from "./service_error.ts";
