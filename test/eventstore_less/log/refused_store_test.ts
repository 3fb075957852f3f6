/** A program refuses a store that another application, a newer format or a newer release wrote, and says which. */

import {
  type Collection,
  dataOf,
  defineApplication,
  encodeJson,
  openEventStore,
} from "eventstore-less";
import { HEAD_KEY } from "eventstore-less/parts";
import { systemRuntime } from "eventstore-less/startup";
import { audit } from "eventstore-less/tools";
import { decodeJson } from "../../../src/eventstore_less/encoding/json.ts";
import { assertEquals, assertRejects } from "@std/assert";
import { z } from "zod";
import { checkedContent, withChecksum } from "../../../src/eventstore_less/store/checksum.ts";
import { SqliteStore } from "../../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import { commit } from "../../support/store_contract.ts";
import { TempStore } from "../../support/temp_store.ts";
import { permissions, testNeeding } from "../../support/test_needing.ts";

type Issued = { type: "Issued"; data: { id: string; note?: string } };

/** The first release of an application, or its next one, which adds a note. */
function applicationOf(name: string, release: "1.0" | "1.1") {
  const next = release === "1.1";
  const id = z.string();
  const collection: Collection<Issued> = {
    name: "invoices",
    isId: (text) => /^\w+$/.test(text),
    exampleId: "a",
    events: {
      Issued: {
        data: next ? z.strictObject({ id, note: z.string().optional() }) : z.strictObject({ id }),
        release: "1.0",
        ...(next ? { added: { "1.1": ({ note }) => note !== undefined } } : {}),
        id: ({ id }) => id,
        isFirst: true,
        project: ({ event, line }) => [{ key: ["invoice", event.data.id], content: dataOf(line) }],
      },
    },
    kinds: { invoice: { key: ["text"], owner: ([, id]) => `invoice ${id}` } },
  };
  return defineApplication({ name, collections: [collection] });
}

const FIRST = applicationOf("Invoices", "1.0");
const NEXT = applicationOf("Invoices", "1.1");

testNeeding(permissions("read", "write", "sys"))(
  "A store is refused by another application, by an older release, and by an older format",
  async () => {
    await using temp = await TempStore.make();
    const append = async (application: typeof FIRST, data: Issued["data"]) => {
      await using store = await openEventStore(application, temp.kvPath);
      await store.append({ decide: () => [{ type: "Issued", data }] });
    };
    const assertRefused = async (application: typeof FIRST, reason: string) => {
      await assertRejects(() => append(application, { id: "x" }), Error, reason);
      const store = await SqliteStore.open(temp.kvPath);
      const { faults } = await audit({ application, store, runtime: systemRuntime });
      const [{ message }] = faults.filter(({ kind }) => kind === "head");
      assertEquals(message, `The store cannot be used: ${reason}`);
      store.close();
    };
    await append(FIRST, { id: "a" });
    await assertRefused(
      applicationOf("Tickets", "1.1"),
      "it is a store of Invoices, not of Tickets; use that program, or name another store",
    );
    // A release that has added nothing yet leaves the store to the one before.
    await append(NEXT, { id: "b" });
    await append(FIRST, { id: "c" });
    await append(NEXT, { id: "d", note: "e" });
    await assertRefused(
      FIRST,
      "its log has events of the newer release 1.1, such as urn:invoices:issued:1.1; " +
        "use release 1.1 or a later one",
    );
    await append(NEXT, { id: "f" });

    const store = await SqliteStore.open(temp.kvPath);
    const record = decodeJson(checkedContent((await store.get(HEAD_KEY))!)!);
    const value = withChecksum(HEAD_KEY, encodeJson({ ...record, format: 8 }));
    await commit(store, [{ type: "set", key: HEAD_KEY, value }]);
    store.close();
    await assertRefused(
      NEXT,
      "it has the newer format 8, and this version knows stores up to format 7; use a version for format 8",
    );
  },
);
