import type { Application } from "../application.ts";
import type { Head } from "../definitions.ts";

/** What the collections of an application count in a head, for an operator. */
export function summaryOf(application: Application, { counts }: Head): Record<string, number> {
  const summaries = application.collections.map(({ name, summaryOf }) =>
    summaryOf?.(counts[name] ?? {})
  );
  return Object.assign({}, ...summaries);
}
