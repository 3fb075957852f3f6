import { assertEquals } from "@std/assert";
import { systemRuntime } from "../../src/runtime/system_runtime.ts";
import { expiringRecordsOf } from "../../src/store/read_expiring_records.ts";

Deno.test("expiringRecordsOf() returns undefined for a store in memory and for a remote store", () => {
  for (const path of [":memory:", "http://localhost:4512", "https://kv.example", undefined]) {
    assertEquals(expiringRecordsOf(path, systemRuntime), undefined);
  }
});
