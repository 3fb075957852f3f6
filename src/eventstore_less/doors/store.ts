/** The port to a store: keys, reads and commits. */

export {
  type Commit,
  type Key,
  type KeyRange,
  type Mutation,
  type Store,
  type StoreEntry,
  type StoreLimits,
  VALUE_BYTES_LIMIT,
} from "../store/store.ts";
export { checkedContent, CHECKSUM_BYTES, withChecksum } from "../store/checksum.ts";
export { groupIntoCommits, sealCommit } from "../store/commit_size.ts";
export { commitUntilKnown } from "../store/commit_until_known.ts";
export { formatKey } from "../store/key_encoding.ts";
export { scan, scanOutside } from "../store/scan.ts";
export { ResilientStore, RETRY_LIMIT_MS } from "../store/resilience/resilient_store.ts";
