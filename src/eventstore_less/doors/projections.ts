/** The records that follow from the log, their keys, and the proof by a line. */

export {
  contentOf,
  damagedError,
  decodeRecord,
  project,
  proveRecord,
  readEvents,
  readProof,
} from "../projections/project.ts";
export {
  IDEMPOTENCY_KIND,
  IDEMPOTENCY_LIFETIME_MS,
  isProjectionKey,
  kindOf,
  kindPrefix,
  projectionKey,
  projectionMutations,
  PROJECTIONS,
  retainedRecords,
} from "../keyspace.ts";
