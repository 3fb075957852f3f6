/**
 * The engine on an application without animals: its only collection is `visits.ts`. Another test runs this file in a copy
 * of the project. The variable STORES names two empty stores, separated by a space: files, or URLs of databases.
 */

import { assertEquals, assertMatch } from "@std/assert";
import { replay } from "../../scripts/replay/replay.ts";
import { restore, verifyExport } from "../../scripts/restore/restore.ts";
import { audit } from "../../scripts/verify/audit.ts";
import { joinLines } from "../../src/encoding/pack_lines.ts";
import { systemRuntime } from "../../src/runtime/system_runtime.ts";
import { visitCount, visitKey } from "../../src/visits/visits.ts";
import { createInstance, type Instance } from "eventstore-less/instance";
import { GUARD_KEYS, readHead } from "eventstore-less/head";
import { projectionKey } from "eventstore-less/projections";
import { OPERATOR } from "eventstore-less/definitions";
import { acceptAppends, acceptLog, openStore } from "eventstore-less/store/open";
import { readLog } from "eventstore-less/log";
import { parseDatabaseUrl, type StoreLocation } from "eventstore-less/store/location";
import type { Store } from "eventstore-less/store";
import { commit } from "../support/store_contract.ts";

const runtime = systemRuntime;

function locationOf(name: string): StoreLocation {
  if (!name.startsWith("postgres:")) return { kind: "file", path: name, isDefault: false };
  const settings = { ...parseDatabaseUrl(name), passfile: undefined, strictReads: false };
  return { kind: "postgres", settings };
}

async function openEmpty(name: string): Promise<Store> {
  const options = { create: true, accept: acceptLog, guardKeys: GUARD_KEYS, runtime };
  return await openStore(locationOf(name), options);
}

/** Appends a visit with the next id, and resolves to the position of its event. */
async function bookVisit({ appender }: Instance, visitor: string): Promise<number> {
  const metadata = { id: runtime.newId(), time: new Date().toISOString(), actor: OPERATOR };
  const { events: [{ position }] } = await appender.append({
    prepare: () => undefined,
    decide(head) {
      const data = { id: visitCount(head) + 1, day: "2026-12-01", visitor };
      return [{ type: "VisitBooked", data, ...metadata }];
    },
  });
  return position;
}

async function linesOf(store: Store): Promise<Uint8Array[]> {
  const { head } = await readHead(store);
  const batches = await Array.fromAsync(readLog(store, { from: 1, to: head.position }));
  return batches.flat().map(({ line }) => line);
}

Deno.test("visits are appended, replayed, audited and restored", async () => {
  const [name, other] = Deno.env.get("STORES")!.split(" ");
  const store = await openEmpty(name);
  const restored = await openEmpty(other);
  try {
    const instance = createInstance({ store, runtime });
    const visitors = ["Ann", "Bob", "Cid"];
    const positions = await Promise.all(visitors.map((visitor) => bookVisit(instance, visitor)));
    assertEquals(positions, [1, 2, 3]);
    await instance.appender.drain();
    const lines = await linesOf(store);
    const { source, subject, dataschema, data } = JSON.parse(new TextDecoder().decode(lines[2]));
    assertEquals([source, subject], ["urn:vet-visits", "visits/3"]);
    assertEquals(dataschema, "urn:vet-visits:visit-booked:6.1");
    assertEquals(data, { id: 3, day: "2026-12-01", visitor: "Cid" });

    await commit(store, [{ type: "delete", key: projectionKey(1, visitKey(2)) }]);
    assertMatch((await audit({ store, runtime })).faults[0].message, /visit.*is missing/);
    await replay({ store, runtime }, { graceMs: 0 });
    const { sound, position } = await audit({ store, runtime });
    assertEquals([sound, position], [true, 3]);

    const exported = () => ReadableStream.from([joinLines(lines)]);
    await restore({ store: restored, runtime }, exported, await verifyExport(exported));
    assertEquals(await linesOf(restored), lines);
    await acceptAppends(restored);
    const next = createInstance({ store: restored, runtime });
    assertEquals(await bookVisit(next, "Dan"), 4);
    await next.appender.drain();
    const report = await audit({ store: restored, runtime });
    assertEquals([report.sound, report.position], [true, 4]);
  } finally {
    store.close();
    restored.close();
  }
});
