/** What the service answers, before it becomes a `Response`. */
export interface Answer {
  status: number;
  /** `null` where the status knows no body. */
  body: string | null;
  headers: Record<string, string>;
  /** JSON where nothing else is said. */
  contentType?: string;
}

/** Headers of what may be wrong a moment later. */
export const NEVER_STORED = { "cache-control": "no-store" };
