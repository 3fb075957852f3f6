/** What the service answers, before it becomes a `Response`. */
export interface Answer {
  status: number;
  body: string;
  headers: Record<string, string>;
  /** JSON where nothing else is said. */
  contentType?: string;
}
