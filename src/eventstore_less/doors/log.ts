/** The log: the types of its events, their lines, and its readers. */

export { COLLECTIONS, EVENT_TYPES, EVENTS } from "../tables.ts";
export {
  encodeEvent,
  encodePublicEvent,
  EVENT_SOURCE,
  GENESIS_HASH,
  MalformedEventError,
  NewerVersionError,
  schemaOf,
  subjectOf,
} from "../log/event.ts";
export { followsHash, sequenceOf } from "../log/line_text.ts";
export { eventOf, LINE_LIMIT_BYTES, readEvent, splitLines } from "../log/lines.ts";
export {
  linesOf,
  LogDamagedError,
  logTime,
  readEventAt,
  readLog,
  secondsSinceEvent,
  type StoredLine,
} from "../log/read_log.ts";
export { expectRightClock, isTimeOfLog } from "../log/time_of_log.ts";
export { isLogKey, logKey, logMutations } from "../keyspace.ts";
