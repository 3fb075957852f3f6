import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { expiringRecordsOf } from "../../../scripts/audit/read_expiring_records.ts";
import { eventByIdempotencyKeyKey, projectionKey } from "../../../src/keyspace.ts";
import type { Key } from "../../../src/store/store.ts";
import type { StoreLocation } from "../../../src/store/store_location.ts";
import { permitted } from "../../support/permitted.ts";
import { changeFile, withSampleFile } from "../../support/sample_file.ts";
import { testIf } from "../../support/test_if.ts";

testIf(permitted("read", "write", "net", "run"))(
  "expiringRecordsOf() reads each record of a file that expires, at any time, or should",
  () =>
    withSampleFile(async ({ kvPath }) => {
      const location: StoreLocation = { kind: "file", path: kvPath, isDefault: false };
      const read = () => Array.fromAsync(expiringRecordsOf(location)!());
      const before = await read();
      assert(before.every(({ key }) => key[2] === "event_by_idempotency_key"));
      const similar = projectionKey(1, ["event_by_idempotency_keys", 1]);
      const endless = projectionKey(1, eventByIdempotencyKeyKey("actor", "hash", 7));
      const expireIn = 3_600_000;
      const expected = Date.now() + expireIn;
      const value = new Uint8Array();
      const sets = [similar, ["far"]].map((key) => {
        return { type: "set" as const, key, value, expireIn };
      });
      await changeFile(kvPath, [...sets, { type: "set", key: endless, value }]);
      using database = new DatabaseSync(kvPath);
      database.exec(
        "update kv set expiration_ms = 9223372036854775807 where hex(k) = '0266617200'",
      );
      const after = await read();
      assertEquals(after.length, before.length + 3);
      const expiryOf = (key: Key) => after.find((it) => it.key.join() === key.join())!.expiresAt;
      assertEquals(new Date(expiryOf(["far"])!).getUTCFullYear(), 275_760);
      assert(expiryOf(similar)! >= expected);
      assertEquals(expiryOf(endless), undefined);
    }),
);
