import { assertEquals, assertGreater, assertThrows } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import {
  decodeKey,
  encodeKey,
  formatKey,
  keysEqual,
  keyText,
} from "../../../src/eventstore_less/store/key_encoding.ts";
import type { Key, KeyPart } from "../../../src/eventstore_less/store/store.ts";
import { withSampleFile } from "../../support/sample_file.ts";
import { permissions, testNeeding } from "../../support/test_needing.ts";

/** Parts as this program writes them. Texts with a lone surrogate are not among them: KV replaces it. */
const COLLECTIONS: KeyPart[] = [
  ...["", "a", "a\0b", "\0", "\0\0", "Zoë 🐈", "\u00ff", "\uffff", "x".repeat(300)],
  ...[0, -0, 1, -1, 255, 256, 1.5, -1.5, 2 ** 53 - 1, -(2 ** 53), 1e300, -1e300, 5e-324],
  ...[NaN, Infinity, -Infinity],
  ...[[], [0], [0, 0], [0, 255], [255], [1, 0, 255, 2]].map((bytes) => Uint8Array.from(bytes)),
];

testNeeding(permissions("read", "write", "net", "run"))(
  "encodeKey() encodes keys as Deno KV does, and decodeKey() decodes them",
  () =>
    withSampleFile(async ({ kvPath }) => {
      using kv = await Deno.openKv(kvPath);
      for (const part of COLLECTIONS) {
        for (const key of [["key", part], ["key", part, "last"], ["key", part, part, 7]]) {
          await kv.set(key, "");
        }
      }
      const entries = await Array.fromAsync(kv.list({ prefix: [] }));
      const keys = entries.map(({ key }) => key as Key);
      assertGreater(keys.length, 3 * COLLECTIONS.length, "the service has records of its own");
      using database = new DatabaseSync(kvPath, { readOnly: true });
      const stored = database.prepare("select k from kv order by k").all()
        .map(({ k }) => k as Uint8Array);
      assertEquals(keys.map(encodeKey), stored);
      assertEquals(stored.map(decodeKey).map(formatKey), keys.map(formatKey));
    }),
);

Deno.test("keyText() and keysEqual() tell keys apart that end their texts elsewhere, or have a number for a text", () => {
  const parts = ["", "a", "a,b", "b", "1", "1:a", ":", "#1;", ";", 1, 12, -1, 1e21, 0.5];
  const keys = [[], ...parts.map((part) => [part])].flatMap((key) => {
    return [key, ...parts.flatMap((part) => [[...key, part], [...key, part, "1"]])];
  });
  const distinct = [...new Map(keys.map((key) => [formatKey(key), key])).values()];
  assertEquals(new Set(distinct.map(keyText)).size, distinct.length);
  for (const [index, key] of distinct.entries()) {
    assertEquals(distinct.findIndex((it) => keysEqual(it, [...key])), index);
  }
});

Deno.test("decodeKey() keeps what follows a bigint or boolean of another program, and rejects bytes that are not a key", () => {
  for (const [hex, text] of [["02610027", '["a",0x27]'], ["15012100", "[0x15012100]"]]) {
    assertEquals(formatKey(decodeKey(Uint8Array.fromHex(hex))), text);
  }
  for (const hex of ["0261", "0100ff", "2180", "03", "ff"]) {
    assertThrows(() => decodeKey(Uint8Array.fromHex(hex)), TypeError, "key");
  }
});
