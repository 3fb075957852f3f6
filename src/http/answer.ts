/** What the service answers, before it becomes a `Response`: always JSON. */
export interface Answer {
  status: number;
  body: string;
  headers: [string, string][];
}
