/** The engine and its tools on another application, in the process of the animals: its only collection is visits. */

import { assertEquals, assertMatch } from "@std/assert";
import { defineApplication, openEventStore, OPERATOR } from "eventstore-less";
import { joinLines, projectionKey, readLog } from "eventstore-less/parts";
import { systemRuntime as runtime } from "eventstore-less/startup";
import { audit, replay, restore } from "eventstore-less/tools";
import { commit } from "./support/store_contract.ts";
import { TempStore } from "./support/temp_store.ts";
import { permissions, testNeeding } from "./support/test_needing.ts";
import { visitCount, visitKey, VISITS } from "./visits/src/visits/visits.ts";

const application = defineApplication({ name: "Vet Visits", collections: [VISITS] });

const open = (name: string) => openEventStore(application, name);
type Visits = Awaited<ReturnType<typeof open>>;

/** Appends a visit with the next id, and resolves to the position of its event. */
async function bookVisit(visits: Visits, visitor: string): Promise<number> {
  const { events: [{ position, data, actor }] } = await visits.append({
    decide: (head) => [{
      type: "VisitBooked",
      data: { id: visitCount(head) + 1, day: "2026-12-01", visitor },
    }],
  });
  assertEquals([data.visitor, actor], [visitor, OPERATOR]);
  return position;
}

async function linesOf({ store, heads }: Visits): Promise<Uint8Array[]> {
  const { head } = await heads.fresh();
  const batches = await Array.fromAsync(readLog(store, { from: 1, to: head.position }));
  return batches.flat().map(({ line }) => line);
}

testNeeding(permissions("read", "write"))(
  "visits are appended, followed, replayed, audited and restored",
  async () => {
    await using file = await TempStore.make();
    await using visits = await open(file.kvPath);
    const visitors = ["Ann", "Bob", "Cid"];
    const positions = await Promise.all(visitors.map((visitor) => bookVisit(visits, visitor)));
    assertEquals(positions, [1, 2, 3]);
    const followed: string[] = [];
    for await (const { event } of visits.follow({ after: 1 })) {
      followed.push(event.data.visitor);
      if (event.position === 3) break;
    }
    assertEquals(followed, ["Bob", "Cid"]);
    const lines = await linesOf(visits);
    const { source, subject, dataschema, data } = JSON.parse(new TextDecoder().decode(lines[2]));
    assertEquals([source, subject], ["urn:vet-visits", "visits/3"]);
    assertEquals(dataschema, "urn:vet-visits:visit-booked:6.1");
    assertEquals(data, { id: 3, day: "2026-12-01", visitor: "Cid" });

    await commit(visits.store, [{ type: "delete", key: projectionKey(1, visitKey(2)) }]);
    assertMatch((await audit(visits)).faults[0].message, /visit.*is missing/);
    await replay(visits, { graceMs: 0 });
    const { sound, position } = await audit(visits);
    assertEquals([sound, position], [true, 3]);

    const exported = () => ReadableStream.from([joinLines(lines)]);
    const restored = await openEventStore(application, ":memory:");
    await restore(exported, application, restored);
    assertEquals(await linesOf(restored), lines);
    assertEquals(await bookVisit(restored, "Dan"), 4);
    const report = await audit({ application, store: restored.store, runtime });
    assertEquals([report.sound, report.position], [true, 4]);
    await restored.close();
  },
);
