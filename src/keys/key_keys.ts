/** The keys of the records of API keys, without their generation. */

/** The key of the record with what an API key was issued with. It never changes. */
export function issuedKeyKey(tokenHash: string) {
  return ["issued_key", tokenHash];
}

/** The key of the record with the last event of an API key. A key without both records is refused. */
export function keyStateKey(tokenHash: string) {
  return ["key_state", tokenHash];
}
