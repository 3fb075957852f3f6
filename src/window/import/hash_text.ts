/**
 * A hash of 128 bits (MurmurHash3) for Idempotency-Keys. The service refuses another animal with the same key, so it
 * need not resist people who search for collisions; and the hashes of browsers need https.
 */

const SEEDS = [0x9e3779b9, 0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f];

export function hashText(text: string): string {
  const words = SEEDS.map((seed) => hash32(text, seed).toString(16).padStart(8, "0"));
  return words.join("");
}

/** MurmurHash3 of the code units. */
function hash32(text: string, seed: number): number {
  let hash = seed;
  for (let index = 0; index < text.length; index++) {
    const mixed = Math.imul(text.charCodeAt(index), 0xcc9e2d51);
    hash ^= Math.imul(rotated(mixed, 15), 0x1b873593);
    hash = Math.imul(rotated(hash, 13), 5) + 0xe6546b64;
  }
  return finished(hash ^ text.length);
}

function rotated(bits: number, count: number): number {
  return bits << count | bits >>> 32 - count;
}

function finished(hash: number): number {
  let bits = hash ^ hash >>> 16;
  bits = Math.imul(bits, 0x85ebca6b);
  bits ^= bits >>> 13;
  bits = Math.imul(bits, 0xc2b2ae35);
  return (bits ^ bits >>> 16) >>> 0;
}
