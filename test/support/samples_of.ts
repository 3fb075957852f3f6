/** The values of a text in the format of Prometheus, by their series. */
export function samplesOf(text: string): Map<string, number> {
  const lines = text.matchAll(/^(\w+(?:\{.*\})?) (\S+)$/gm);
  return new Map(Array.from(lines, ([, series, value]) => [series, Number(value)]));
}
