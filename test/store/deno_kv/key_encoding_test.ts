import { assertEquals, assertGreater, assertThrows } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { decodeKey, encodeTextPart } from "../../../src/store/deno_kv/key_encoding.ts";
import { keyText } from "../../../src/store/key_text.ts";
import { permitted } from "../../support/permitted.ts";
import { changeFile, withSampleFile } from "../../support/sample_file.ts";

const PARTS: Deno.KvKeyPart[] = [
  ...["", "a", "a\0b", "\0", "\0\0", "Zoë 🐈", "\u00ff", "\uffff", "x".repeat(300)],
  ...[0, -0, 1, -1, 255, 256, 1.5, -1.5, 2 ** 53 - 1, -(2 ** 53), 1e300, -1e300, 5e-324],
  ...[NaN, Infinity, -Infinity, true, false],
  ...[0n, 1n, -1n, 255n, 256n, -255n, -256n, 2n ** 63n, 2n ** 64n - 1n, -(2n ** 64n) + 1n],
  ...[2n ** 64n, -(2n ** 64n), 2n ** 2040n - 1n, -(2n ** 2040n) + 1n],
  ...[[], [0], [0, 0], [0, 255], [255], [1, 0, 255, 2]].map((bytes) => Uint8Array.from(bytes)),
];

function storedKeys(path: string): Uint8Array[] {
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = database.prepare("select k from kv order by k").all();
  database.close();
  return rows.map(({ k }) => k as Uint8Array);
}

Deno.test({
  name: "decodeKey() decodes Deno KV's keys with parts of all types, alone and next to others",
  ignore: !permitted("read", "write", "net", "run"),
  fn: () =>
    withSampleFile(async ({ kvPath }) => {
      const keys = PARTS.flatMap((part): Deno.KvKey[] => [
        ["key", part],
        ["key", part, "last"],
        ["key", part, part, 7],
      ]);
      await changeFile(kvPath, keys.map((key) => ({ type: "set", key, value: "" })));
      const kv = await Deno.openKv(kvPath);
      const expected = (await Array.fromAsync(kv.list({ prefix: [] }))).map(({ key }) => key);
      kv.close();
      assertGreater(expected.length, keys.length, "the service has records of its own");
      assertEquals(storedKeys(kvPath).map(decodeKey).map(keyText), expected.map(keyText));
    }),
});

Deno.test("decodeKey() decodes a part from encodeTextPart()", () => {
  assertEquals(decodeKey(encodeTextPart("projection")), ["projection"]);
});

Deno.test("decodeKey() rejects bytes that are not a key", () => {
  const wrong = [[0x02, 0x61], [0x01, 0x00, 0xff], [0x21, 0x80], [0x03], [0x16, 0x01], [0x1d], [
    0xff,
  ]];
  for (const bytes of wrong) {
    assertThrows(() => decodeKey(Uint8Array.from(bytes)), TypeError, "key");
  }
});
