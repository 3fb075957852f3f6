/** What the service answers, before it becomes a `Response`. */
export interface HttpResponse {
  status: number;
  /** `null` if the status has no body. Bytes are shared, and streamed. */
  body: string | Uint8Array | null;
  headers: Record<string, string>;
  /** The headers of the body itself, left out of 304; by default those of JSON. */
  contentHeaders?: Record<string, string>;
}

/** Headers of what may be wrong a moment later. */
export const NEVER_STORED = { "cache-control": "no-store" };
