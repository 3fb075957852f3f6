import { assertEquals, assertLess } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { systemRuntime } from "../../src/runtime/system_runtime.ts";
import { expiringRecordsOf } from "../../src/store/read_expiring_records.ts";
import {
  eventByIdempotencyKeyKey,
  projectionKey,
  SOME_IDEMPOTENCY_KEY,
} from "../../src/keyspace.ts";
import type { StoreLocation } from "../../src/store/store_location.ts";
import { permitted } from "../support/permitted.ts";
import { changeFile, withSampleFile } from "../support/sample_file.ts";
import { testIf } from "../support/test_if.ts";

function readerOf(location: StoreLocation) {
  return expiringRecordsOf(location, systemRuntime, SOME_IDEMPOTENCY_KEY);
}

Deno.test("expiringRecordsOf() returns undefined for a store in memory and for a remote store", () => {
  assertEquals(readerOf({ kind: "memory" }), undefined);
  assertEquals(readerOf({ kind: "attached" }), undefined);
  assertEquals(readerOf({ kind: "kv_connect", address: "https://kv.example" }), undefined);
});

testIf(permitted("read", "write", "net", "run"))(
  "expiringRecordsOf() reads each record of a file that expires, at any time, and no idempotency record",
  () =>
    withSampleFile(async ({ kvPath }) => {
      const read = async () => await readerOf({ kind: "file", path: kvPath, isDefault: false })!();
      assertEquals(await read(), []);
      const similar = projectionKey(1, ["event_by_idempotency_keys", 1]);
      const leftOut = [1, 2, -1].map((generation) =>
        projectionKey(generation, eventByIdempotencyKeyKey("actor", "hash", 7))
      );
      const expireIn = 3_600_000;
      const keys = [...leftOut, similar, ["far"]];
      await changeFile(
        kvPath,
        keys.map((key) => ({ type: "set", key, value: new Uint8Array(), expireIn })),
      );
      const expected = Date.now() + expireIn;
      const database = new DatabaseSync(kvPath);
      database.exec(
        "update kv set expiration_ms = 9223372036854775807 where hex(k) = '0266617200'",
      );
      database.close();
      const [far, near, ...others] = (await read()).sort((a, b) => b.expiresAt - a.expiresAt);
      assertEquals([far.key, near.key, others], [["far"], similar, []]);
      assertEquals(new Date(far.expiresAt).getUTCFullYear(), 275_760);
      assertLess(Math.abs(near.expiresAt - expected), 60_000);
    }),
);
