/** JSON with exact int64s, as `bigint`s. Every other number stays a `number`, so that a schema can reject it. */

/** The least integer of 64 bits. */
export const INT64_MIN: bigint = -(2n ** 63n);
/** The greatest integer of 64 bits. */
export const INT64_MAX: bigint = 2n ** 63n - 1n;

/** Any other number is an integer of at most 15 digits, which a double holds exactly. */
const MAY_ROUND = /\d(?:[.eE]|\d{15})/;

/** Parses JSON text. Throws `SyntaxError` on malformed text and `RangeError` on text nested too deep. */
export function parseExactJson(text: string): unknown {
  // To ask for the texts of all numbers would take several times as long.
  if (!MAY_ROUND.test(text)) return withBigInts(JSON.parse(text));
  // TypeScript does not know the third argument yet (https://github.com/tc39/proposal-json-parse-with-source).
  return JSON.parse(text, (_key, value, context?: { source: string }) => {
    return typeof value === "number" ? int64Of(context!.source) ?? value : value;
  });
}

/** Replaces all numbers in a parsed value, which are integers. */
function withBigInts(value: unknown): unknown {
  if (typeof value === "number") return BigInt(value);
  if (typeof value !== "object" || value === null) return value;
  const members = value as Record<string, unknown>;
  for (const name in members) members[name] = withBigInts(members[name]);
  return members;
}

/**
 * The int64 that the text of a JSON number represents, or `undefined`. `9007199254740992.5` is not an integer although
 * its double is. `1.0` and `10e-1` are the integer 1: RFC 8259 section 6 does not distinguish between them.
 */
export function int64Of(source: string): bigint | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source);
  if (match === null) return undefined;
  const [, sign, whole, fraction = "", exponent = "0"] = match;
  const significant = (whole + fraction).replace(/^0+/, "");
  // A pattern such as /0+$/ takes quadratic time.
  let end = significant.length;
  while (significant[end - 1] === "0") end--;
  const digits = significant.slice(0, end);
  if (digits === "") return 0n;
  const zeros = significant.length - digits.length - fraction.length + Number(exponent);
  // The limit prevents a short text like 1e999999999 from becoming a number of a billion digits.
  if (zeros < 0 || digits.length + zeros > 19) return undefined;
  const value = BigInt(sign + digits + "0".repeat(zeros));
  return value >= INT64_MIN && value <= INT64_MAX ? value : undefined;
}
