import { assertEquals, assertMatch } from "@std/assert";
import { APPLICATION } from "../../../src/application.ts";
import type { Head } from "eventstore-less";
import { lastPetIdOf } from "../../../src/animals/pet_counts.ts";
import { idempotencyHash } from "../../../src/eventstore_less/idempotency/idempotency_hash.ts";
import { usedParts } from "../../../src/eventstore_less/idempotency/used_parts.ts";
import { IDEMPOTENCY_LIFETIME_MS } from "../../../src/eventstore_less/keyspace.ts";
import { openTestService } from "../../support/test_service.ts";

Deno.test("idempotencyHash() gives the parts of a key 32 digits in common, which only the secret tells", () => {
  const parts = ["1", "2", undefined];
  const [one, two, whole] = parts.map((part) =>
    idempotencyHash({ key: "order 7", secret: "s", part })
  );
  for (const hash of [one, two]) {
    assertMatch(hash, /^[0-9a-f]{64}$/);
    assertEquals(hash.slice(0, 32), whole.slice(0, 32));
  }
  const others = [{ key: "order 8", secret: "s" }, { key: "order 7", secret: "t" }, {
    key: "order 7",
  }];
  const all = others.flatMap((other) => parts.map((part) => idempotencyHash({ ...other, part })));
  assertEquals(new Set([one, two, whole, ...all].map((hash) => hash.slice(32))).size, 12);
  assertEquals(all.filter((hash) => hash.startsWith(whole.slice(0, 32))), []);
});

Deno.test("usedParts() finds the parts of a key that an actor has used within a day", async () => {
  await using service = await openTestService();
  const { heads, runtime, store } = service;
  const use = async (part: string | undefined, key = "order 7", actor = "one") => {
    const idempotency = { key, part };
    const decide = (head: Head) => [
      {
        type: "PetCreated" as const,
        data: { id: lastPetIdOf(head) + 1, name: "Rex", categoryId: 1n },
      },
    ];
    await service.append({ actor, idempotency, decide });
    return idempotencyHash(idempotency);
  };
  const used = async () => {
    const { head } = await heads.read();
    const idempotencyKey = idempotencyHash({ key: "order 7" });
    const found = await usedParts(APPLICATION, store, head, {
      actor: "one",
      idempotencyKey,
      timeMs: runtime.now(),
    });
    return found.toSorted();
  };
  assertEquals(await used(), []);
  const hashes = [await use("1"), await use(undefined)];
  await use("1", "order 8");
  await use("2", "order 7", "two");
  assertEquals(await used(), hashes.toSorted());
  await runtime.advance(IDEMPOTENCY_LIFETIME_MS);
  assertEquals(await used(), []);
});
