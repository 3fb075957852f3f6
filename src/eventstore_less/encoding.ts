/** Encodings that also browsers can use. */

export * from "./encoding/int64.ts";
export { objectEncoder } from "./encoding/object_encoder.ts";
export { safeInteger } from "./encoding/safe_integer.ts";
export * from "./encoding/text_forms.ts";
