import type { Head } from "eventstore-less";

/** Position of the last event of an API key; 0 without one. */
export function apiKeyPositionOf({ types }: Pick<Head, "types">): number {
  return Math.max(types.ApiKeyIssued?.last ?? 0, types.ApiKeyRevoked?.last ?? 0);
}
