/** The path of the interface (section 9). */
export const BASE_PATH = "/v1";

/** An address that the description has in examples, until it is replaced by the one that was called. */
export const EXAMPLE_BASE = `http://localhost:8000${BASE_PATH}`;
