/**
 * Schemas of ids, hashes and times, and the encoder of an object in the order of its schema. They load nothing else of
 * the engine, so the schemas of an application can be used in a page, too.
 *
 * @module
 */

export { objectEncoder } from "./encoding/object_encoder.ts";
export { safeInteger } from "./encoding/safe_integer.ts";
export { Instant, Sha256Hex, ULID, Ulid } from "./encoding/text_forms.ts";
