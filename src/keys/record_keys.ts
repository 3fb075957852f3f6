/** The keys under which the store has the two records of an API key, without their generation. */

/** The key of the record of how an API key was issued. This record never changes. */
export function issuedRecordKey(tokenHash: string) {
  return ["issued_key", tokenHash];
}

/** The key of the record of the last event of an API key. An API key without both records is refused. */
export function stateRecordKey(tokenHash: string) {
  return ["key_state", tokenHash];
}
