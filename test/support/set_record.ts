import { withChecksum } from "../../src/store/checksum.ts";
import type { Key, SetMutation } from "../../src/store/store.ts";
import { utf8 } from "./utf8.ts";

/** The mutation that stores a content under a key, with its checksum. */
export function setRecord(key: Key, content: Uint8Array | string): SetMutation {
  const bytes = typeof content === "string" ? utf8(content) : content;
  return { type: "set", key, value: withChecksum(key, bytes) };
}
