import { assertEquals, assertGreater, assertThrows } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { decodeKey, encodeKey } from "../../../src/store/key_encoding/key_encoding.ts";
import { formatKey } from "../../../src/store/key_encoding/key_text.ts";
import type { Key, KeyPart } from "../../../src/store/store.ts";
import { permitted } from "../../support/permitted.ts";
import { withSampleFile } from "../../support/sample_file.ts";
import { testIf } from "../../support/test_if.ts";

/** Parts as this program writes them. Texts with a lone surrogate are not among them: KV replaces it. */
const PARTS: KeyPart[] = [
  ...["", "a", "a\0b", "\0", "\0\0", "Zoë 🐈", "\u00ff", "\uffff", "x".repeat(300)],
  ...[0, -0, 1, -1, 255, 256, 1.5, -1.5, 2 ** 53 - 1, -(2 ** 53), 1e300, -1e300, 5e-324],
  ...[NaN, Infinity, -Infinity],
  ...[[], [0], [0, 0], [0, 255], [255], [1, 0, 255, 2]].map((bytes) => Uint8Array.from(bytes)),
];

/** Parts that only other programs write. */
const FOREIGN_PARTS: Deno.KvKeyPart[] = [
  ...[true, false],
  ...[0n, 1n, -1n, 255n, 256n, -255n, -256n, 2n ** 63n, 2n ** 64n - 1n, -(2n ** 64n) + 1n],
  ...[2n ** 64n, -(2n ** 64n), 2n ** 2040n - 1n, -(2n ** 2040n) + 1n],
];

function storedKeys(path: string): Uint8Array[] {
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = database.prepare("select k from kv order by k").all();
  database.close();
  return rows.map(({ k }) => k as Uint8Array);
}

/** Stores keys in a Deno KV, alone and next to others. Resolves to all its keys, in order. */
async function storeInKv(kvPath: string, parts: readonly Deno.KvKeyPart[]) {
  const kv = await Deno.openKv(kvPath);
  for (const part of parts) {
    for (const key of [["key", part], ["key", part, "last"], ["key", part, part, 7]]) {
      await kv.set(key, "");
    }
  }
  const keys = (await Array.fromAsync(kv.list({ prefix: [] }))).map(({ key }) => key);
  kv.close();
  assertGreater(keys.length, 3 * parts.length, "the service has records of its own");
  return keys;
}

const test = testIf(permitted("read", "write", "net", "run"));

test("encodeKey() encodes keys as Deno KV does", () =>
  withSampleFile(async ({ kvPath }) => {
    const keys = await storeInKv(kvPath, PARTS) as Key[];
    assertEquals(keys.map(encodeKey), storedKeys(kvPath));
  }));

test("decodeKey() decodes Deno KV's keys with parts of all types, alone and next to others", () =>
  withSampleFile(async ({ kvPath }) => {
    const keys = await storeInKv(kvPath, [...PARTS, ...FOREIGN_PARTS]);
    assertEquals(storedKeys(kvPath).map(decodeKey).map(formatKey), keys.map(formatKey));
  }));

Deno.test("encodeKey() keeps a key whose number is -0, and one of no parts", () => {
  for (const key of [[-0], [0], []]) {
    assertEquals(formatKey(decodeKey(encodeKey(key))), formatKey(key));
  }
});

Deno.test("decodeKey() rejects bytes that are not a key", () => {
  const wrong = [[0x02, 0x61], [0x01, 0x00, 0xff], [0x21, 0x80], [0x03], [0x16, 0x01], [0x1d], [
    0xff,
  ]];
  for (const bytes of wrong) {
    assertThrows(() => decodeKey(Uint8Array.from(bytes)), TypeError, "key");
  }
});
