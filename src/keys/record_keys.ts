/** The keys under which the store has the two records of an API key, without their generation. */

/** Where the store has what an API key was issued with. This record never changes. */
export function issuedRecordKey(tokenHash: string) {
  return ["issued_key", tokenHash];
}

/** Where the store has the last event of an API key. An API key without both records is refused. */
export function stateRecordKey(tokenHash: string) {
  return ["key_state", tokenHash];
}
