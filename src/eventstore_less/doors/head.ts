/** The head of the log: its record, its readers, and what guards a commit. */

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
} from "../log/head.ts";
export { HEAD_LIMIT_MS, HeadLostError, HeadReader } from "../log/head_reader.ts";
export { isHeadBehind } from "../log/accept_store.ts";
export { GUARD_KEYS, HEAD_KEY, isTurnRequestKey, REPLAY_KEY } from "../keyspace.ts";
