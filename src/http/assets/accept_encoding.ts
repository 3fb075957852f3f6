/** The content codings that the service sends, the preferred one first. */
const ENCODINGS = ["br", "gzip", "identity"] as const;

export type Encoding = typeof ENCODINGS[number];

/**
 * Chooses the content coding for a request with this `Accept-Encoding` (RFC 9110 section 12.5.3). Among
 * codings of equal weight, the order of {@linkcode ENCODINGS} decides, because every browser names gzip
 * before br. If no coding is acceptable or named, the result is `identity`, as the RFC recommends.
 */
export function preferredEncoding(field: string | null): Encoding {
  const weights = parseWeights(field ?? "");
  const ours = ENCODINGS.map((encoding) => weights.get(encoding) ?? weights.get("*") ?? 0);
  const best = Math.max(...ours);
  return best > 0 ? ENCODINGS[ours.indexOf(best)] : "identity";
}

/** The weight of each coding that is named, from 0 to 1; a malformed weight is 0. */
function parseWeights(field: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const element of field.toLowerCase().split(",")) {
    const [coding, parameter] = element.split(";", 2).map((part) => part.trim());
    const weight = parameter === undefined ? "1" : /^q=([01](?:\.\d{0,3})?)$/.exec(parameter)?.[1];
    weights.set(coding, Number(weight ?? 0));
  }
  return weights;
}
