/** A number of events in a message: 1 event, 12,345 events. */
export function eventsText(count: number): string {
  return `${count.toLocaleString("en-US")} event${count === 1 ? "" : "s"}`;
}
