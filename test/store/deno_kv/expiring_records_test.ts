import { assertEquals, assertLess, assertNotEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { systemRuntime } from "../../../src/runtime/system_runtime.ts";
import {
  type ExpiringRecord,
  expiringRecordsOf,
} from "../../../src/store/read_expiring_records.ts";
import { formatKey } from "../../../src/store/key_encoding/key_text.ts";
import {
  logKey,
  petByIdempotencyKeyKey,
  projectionKey,
  SOME_IDEMPOTENCY_KEY,
} from "../../../src/keyspace.ts";
import type { Key, Mutation } from "../../../src/store/store.ts";
import { permitted } from "../../support/permitted.ts";
import { changeFile, withSampleFile } from "../../support/sample_file.ts";
import { testIf } from "../../support/test_if.ts";

const test = testIf(permitted("read", "write", "net", "run"));

/** More records than one read returns. */
const MANY = 1_200;

function readExpiringRecords(path: string): Iterable<ExpiringRecord> {
  const location = { kind: "file", path, isDefault: false } as const;
  const read = expiringRecordsOf(location, systemRuntime, SOME_IDEMPOTENCY_KEY)!;
  return read() as Iterable<ExpiringRecord>;
}

Deno.test("expiringRecordsOf() returns undefined for a store in memory and for a remote store", () => {
  for (
    const location of [
      { kind: "memory" },
      { kind: "attached" },
      { kind: "kv_connect", address: "https://kv.example" },
    ] as const
  ) {
    assertEquals(expiringRecordsOf(location, systemRuntime, SOME_IDEMPOTENCY_KEY), undefined);
  }
});

function expiring(key: Key): Mutation {
  return { type: "set", key, value: "", expireIn: 3_600_000 };
}

test("readExpiringRecords() reads each record once, and no idempotency records", () =>
  withSampleFile(async ({ kvPath }) => {
    const read = () => readExpiringRecords(kvPath);
    assertEquals([...read()], []);
    const keys = Array.from({ length: MANY }, (_, index) => logKey(1_000 + index));
    keys.push(projectionKey(1, ["pet_by_idempotency_keys", 1]));
    for (let start = 0; start < keys.length; start += 500) {
      await changeFile(kvPath, keys.slice(start, start + 500).map(expiring));
    }
    const idempotencyKeys = [1, 2, -1].map((generation) =>
      projectionKey(generation, petByIdempotencyKeyKey("actor", "hash", 7))
    );
    await changeFile(kvPath, idempotencyKeys.map(expiring));
    const found = [...read()];
    assertEquals(found.map(({ key }) => formatKey(key)).sort(), keys.map(formatKey).sort());
    for (const { expiresAt } of found) {
      assertLess(Math.abs(expiresAt - Date.now() - 3_600_000), 60_000);
    }
  }));

test("readExpiringRecords() does not block writers while it reads", () =>
  withSampleFile(async ({ kvPath, store }) => {
    const keys = Array.from({ length: 600 }, (_, index) => logKey(1_000 + index));
    await store.commit({ checks: [], mutations: keys.map(expiring) });
    let count = 0;
    for (const { key } of readExpiringRecords(kvPath)) {
      const mutations: Mutation[] = [{ type: "set", key, value: "other" }];
      if (count++ % 100 === 0) {
        assertNotEquals(await store.commit({ checks: [], mutations }), null);
      }
    }
    assertEquals(count, keys.length);
  }));

test("readExpiringRecords() reads every expiry time that the file can hold", () =>
  withSampleFile(async ({ kvPath }) => {
    await changeFile(kvPath, [expiring(["far"])]);
    const database = new DatabaseSync(kvPath);
    database.exec("update kv set expiration_ms = 9223372036854775807 where expiration_ms >= 0");
    database.close();
    const records = [...readExpiringRecords(kvPath)];
    assertEquals(records.map(({ expiresAt }) => new Date(expiresAt).getUTCFullYear()), [275_760]);
  }));
