/** The `actor` of an event that was not caused by an API key. */
export const OPERATOR = "operator";
