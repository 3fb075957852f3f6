import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { expiringRecordsOf } from "../../../scripts/audit/read_expiring_records.ts";
import { eventByIdempotencyKeyKey, projectionKey } from "../../../src/keyspace.ts";
import type { StoreLocation } from "../../../src/store/store_location.ts";
import { permitted } from "../../support/permitted.ts";
import { changeFile, withSampleFile } from "../../support/sample_file.ts";
import { testIf } from "../../support/test_if.ts";

testIf(permitted("read", "write", "net", "run"))(
  "expiringRecordsOf() reads each record of a file that expires, at any time, and no idempotency record",
  () =>
    withSampleFile(async ({ kvPath }) => {
      const location: StoreLocation = { kind: "file", path: kvPath, isDefault: false };
      const read = expiringRecordsOf(location)!;
      assertEquals(await read(), []);
      const similar = projectionKey(1, ["event_by_idempotency_keys", 1]);
      const leftOut = [1, 2, -1].map((generation) =>
        projectionKey(generation, eventByIdempotencyKeyKey("actor", "hash", 7))
      );
      const expireIn = 3_600_000;
      const expected = Date.now() + expireIn;
      const sets = [...leftOut, similar, ["far"]].map((key) => {
        return { type: "set" as const, key, value: new Uint8Array(), expireIn };
      });
      await changeFile(kvPath, sets);
      using database = new DatabaseSync(kvPath);
      database.exec(
        "update kv set expiration_ms = 9223372036854775807 where hex(k) = '0266617200'",
      );
      const [far, near, ...others] = (await read()).sort((a, b) => b.expiresAt - a.expiresAt);
      assertEquals([far.key, near.key, others], [["far"], similar, []]);
      assertEquals(new Date(far.expiresAt).getUTCFullYear(), 275_760);
      assert(near.expiresAt >= expected);
    }),
);
