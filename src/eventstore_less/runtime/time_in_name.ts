/**
 * A time in UTC, in milliseconds since the Unix epoch, as a part of the name of a new file: `20261129-113802`. With it, the
 * file is never one of an earlier accident, which may be the store by now.
 */
export function timeInName(time: number): string {
  const [date, clock] = new Date(time).toISOString().replaceAll(/[-:]|\..*/g, "").split("T");
  return `${date}-${clock}`;
}
