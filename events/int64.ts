/**
 * Parses JSON with exact 64-bit integers. An int64 becomes a `bigint`, however it is written. Every other
 * number stays a `number`, so that a schema can reject it.
 */

export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;

/** Parses JSON text. Throws `SyntaxError` on malformed text and `RangeError` on text nested too deep. */
export function parseExactJson(text: string): unknown {
  return parsePlainly(text) ??
    // TypeScript's library does not declare the reviver's third argument yet
    // (https://github.com/tc39/proposal-json-parse-with-source).
    JSON.parse(text, exactInteger as (key: string, value: unknown) => unknown);
}

/** Matches a fraction, an exponent or more digits than a double holds exactly, even within a string. */
const MAY_BE_INEXACT = /\d[.eE]|\d{16}/;

/**
 * Parses an object of strings and small integers, the usual case, without the cost of a reviver. Returns
 * `undefined` for any other text.
 */
function parsePlainly(text: string): unknown {
  if (MAY_BE_INEXACT.test(text)) return undefined;
  const members = JSON.parse(text);
  if (typeof members !== "object" || members === null) return undefined;
  for (const name of Object.keys(members)) {
    const value = members[name];
    if (typeof value === "number") members[name] = BigInt(value);
    else if (typeof value !== "string") return undefined;
  }
  return members;
}

function exactInteger(_key: string, value: unknown, context: { source: string }): unknown {
  return typeof value === "number" ? int64Of(context.source) ?? value : value;
}

/**
 * The int64 that a JSON number represents, or `undefined` if it is not an integer or is out of range. Uses
 * the source text: `9007199254740992.5` is not an integer although its double is. `1.0` and `10e-1` are the
 * integer 1, because RFC 8259 section 6 does not distinguish between them.
 */
export function int64Of(source: string): bigint | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source);
  if (match === null) return undefined;
  const [, sign, whole, fraction = "", exponent = "0"] = match;
  const significant = (whole + fraction).replace(/^0+/, "");
  const digits = significant.replace(/0+$/, "");
  if (digits === "") return 0n;
  const zeros = significant.length - digits.length - fraction.length + Number(exponent);
  // The limit prevents a short text like 1e999999999 from becoming a number of a billion digits.
  if (zeros < 0 || digits.length + zeros > 19) return undefined;
  const value = BigInt(sign + digits + "0".repeat(zeros));
  return isInt64(value) ? value : undefined;
}

export function isInt64(value: bigint): boolean {
  return value >= INT64_MIN && value <= INT64_MAX;
}
