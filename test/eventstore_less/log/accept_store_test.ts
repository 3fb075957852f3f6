import { APPLICATION } from "../../../src/application.ts";
import type { Head } from "../../../src/eventstore_less/definitions.ts";
import { assertRejects } from "@std/assert";
import {
  acceptAppends,
  acceptLog,
  acceptUnlessRestoring,
} from "../../../src/eventstore_less/log/accept_store.ts";
import {
  EMPTY_HEAD,
  encodeHead,
  encodeRestoreMark,
} from "../../../src/eventstore_less/log/head.ts";
import { HEAD_KEY, logKey } from "../../../src/eventstore_less/keyspace.ts";
import { encodeJson } from "eventstore-less";
import { withChecksum } from "../../../src/eventstore_less/store/checksum.ts";
import { StoreRefusedError } from "../../../src/eventstore_less/store/store_errors.ts";
import { openSampleStore } from "../../support/sample_store.ts";
import { commit, set } from "../../support/store_contract.ts";

/** Heads that would break the chain of hashes with the next commit, or give an id again. */
const WRONG: [change: (head: Head) => Partial<Head>, reason: string][] = [
  [() => ({ lastHash: "0".repeat(64) }), "it does not have the hash of the last line"],
  [({ position }) => ({ position: position + 1 }), "the log has no sound line at position 31"],
  [() => ({ position: 0 }), "its log has lines after the head record"],
  [
    ({ types }) => {
      const PetCreated = { ...types.PetCreated!, count: types.PetCreated!.count - 1 };
      return { types: { ...types, PetCreated } };
    },
    "it counts 29 events of 30",
  ],
  [
    ({ types }) => {
      const PetCreated = { ...types.PetCreated!, count: types.PetCreated!.count - 1 };
      const PetUpdated = { ...types.PetUpdated!, count: types.PetUpdated!.count + 1 };
      return { types: { ...types, PetCreated, PetUpdated } };
    },
    "it counts 12 additions, but the newest pet has the id 13",
  ],
  [
    ({ types }) => ({ types: { ...types, PetUpdated: { ...types.PetUpdated!, last: 29 } } }),
    "position 29 of the log has no PetUpdated",
  ],
  [
    ({ types }) => ({ types: { ...types, PetUpdated: { ...types.PetUpdated!, last: 25 } } }),
    "it does not have the type of the last line",
  ],
  [
    ({ counts }) => ({ counts: { pets: { ...counts.pets, sold: 1 } } }),
    "its lists have 10 pets instead of 12",
  ],
];

Deno.test("acceptAppends(APPLICATION) refuses a head that does not follow from the end of the log", async () => {
  using sample = await openSampleStore(30);
  await acceptAppends(APPLICATION, sample.store);
  for (const [change, reason] of WRONG) {
    const value = encodeHead(APPLICATION, { ...sample.head, ...change(sample.head) });
    await commit(sample.store, [{ type: "set", key: HEAD_KEY, value }]);
    const refused = reason.startsWith("its log") ? reason : `its head record is wrong: ${reason}`;
    const advice = `${refused}; run an audit`;
    await assertRejects(() => acceptAppends(APPLICATION, sample.store), StoreRefusedError, advice);
  }
});

Deno.test("acceptAppends(APPLICATION) refuses a log whose last record is missing, or is not that of the last line", async () => {
  using sample = await openSampleStore(30);
  const { store } = sample;
  const [last] = await store.list({ start: logKey(30), end: logKey(99) }, { limit: 1 });
  const missing = "the log has no sound line at position 30";
  for (const value of [undefined, new Uint8Array(40)]) {
    const { key } = last;
    await commit(store, [
      value === undefined ? { type: "delete", key } : { type: "set", key, value },
    ]);
    await assertRejects(() => acceptAppends(APPLICATION, store), StoreRefusedError, missing);
  }
});

Deno.test("no store is accepted with half a log, a damaged head, or the data of another program, format or release", async () => {
  const mark = encodeRestoreMark({
    format: "restore",
    storeFormat: 7,
    run: "01HZZZZZZZ0000000000000001",
    position: 30,
    lastHash: "0".repeat(64),
    restored: 0,
  });
  const restoring = "a restore into it is under way or was interrupted";
  const damaged = "its head record is damaged, or not one of";
  const foreign = "it holds the data of another program";
  const cases = [
    [set(HEAD_KEY, mark), restoring, [acceptUnlessRestoring, acceptLog, acceptAppends]],
    [set(HEAD_KEY, "of a list"), damaged, [acceptLog, acceptAppends]],
    [set(["users", 1], "Ann"), foreign, [acceptLog, acceptAppends]],
    ...[
      [{ format: 8 }, "it has the newer format 8"],
      [{ application: "Invoices" }, "it is a store of Invoices, not of Animal Store"],
      [
        { types: { PetCreated: { version: "99.1", count: 1, last: 1 } } },
        "its log has events of the newer release 99.1",
      ],
    ].map(([change, reason]) => {
      const head = { format: 7, application: "Animal Store", ...EMPTY_HEAD, ...change as object };
      const record = set(HEAD_KEY, withChecksum(HEAD_KEY, encodeJson(head)));
      return [record, reason as string, [acceptUnlessRestoring, acceptLog, acceptAppends]] as const;
    }),
  ] as const;
  for (const [record, reason, checks] of cases) {
    using sample = await openSampleStore(0);
    await commit(sample.store, [record]);
    for (const accept of checks) {
      await assertRejects(() => accept(APPLICATION, sample.store), StoreRefusedError, reason);
    }
  }
});
