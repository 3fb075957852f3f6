import { withChecksum } from "../../src/eventstore_less/store/checksum.ts";
import type { Key, SetMutation, Store } from "../../src/eventstore_less/store/store.ts";
import { commit } from "./store_contract.ts";
import { utf8 } from "./utf8.ts";

/** The mutation that stores a content under a key, with its checksum. */
export function setRecord(key: Key, content: Uint8Array | string): SetMutation {
  const bytes = typeof content === "string" ? utf8(content) : content;
  return { type: "set", key, value: withChecksum(key, bytes) };
}

/** Stores a content with its checksum, or deletes the record. */
export async function putRecord(
  store: Store,
  key: Key,
  content?: Uint8Array | string,
): Promise<void> {
  await commit(store, [content === undefined ? { type: "delete", key } : setRecord(key, content)]);
}
