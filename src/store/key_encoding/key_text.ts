import { encodeHex } from "@std/encoding/hex";

/**
 * Formats a store key as readable text. Different keys have different texts. Bigints and booleans occur only in
 * the keys of other programs.
 */
export function formatKey(key: readonly unknown[]): string {
  return `[${key.map(partText).join(",")}]`;
}

function partText(part: unknown): string {
  switch (typeof part) {
    case "string":
      return JSON.stringify(part);
    case "bigint":
      return `${part}n`;
    case "number":
      return Object.is(part, -0) ? "-0" : String(part);
    case "boolean":
      return String(part);
    default:
      return `0x${encodeHex(part as Uint8Array)}`;
  }
}
