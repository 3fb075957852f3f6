import { assertEquals } from "@std/assert";
import { type EventBody, OPERATOR } from "../../../events/event.ts";
import { type Pet, type PetStatus, reversePatch } from "../../../events/pet.ts";
import { LogStatistics } from "../../../scripts/report/log_statistics.ts";
import { sha256Hex } from "../../../src/encoding/sha256.ts";
import { linesOf, liveKeyOf, sampleId, sampleLog } from "../../support/sample_log.ts";

const encoder = new TextEncoder();
const encoded = (lines: string[]) => lines.map((line) => encoder.encode(line));

/** Events of one key, an hour apart: an addition with its status, or a change of the status of a pet. */
function logOf(...steps: (PetStatus | undefined | [petId: number, status?: PetStatus])[]) {
  const pets: Pet[] = [];
  const key = { keyId: sampleId(0), label: "one", tokenHash: sha256Hex("one") };
  const metadata = (hour: number) => ({
    id: sampleId(hour),
    time: new Date(Date.parse("2026-03-31T22:59:59.999Z") + hour * 3_600_000).toISOString(),
    actor: hour === 0 ? OPERATOR : key.keyId,
  });
  const petOf = (id: number, status?: PetStatus): Pet => {
    return { id, name: "Rex", categoryId: 1n, ...(status === undefined ? {} : { status }) };
  };
  const bodies = steps.map((step): EventBody => {
    if (!Array.isArray(step)) {
      pets.push(petOf(pets.length + 1, step));
      return { type: "PetCreated", data: pets.at(-1)! };
    }
    const [id, status] = step;
    const [before, after] = [pets[id - 1], petOf(id, status)];
    pets[id - 1] = after;
    return { type: "PetUpdated", data: { ...after, previous: reversePatch(before, after) } };
  });
  return encoded(linesOf([
    { ...metadata(0), type: "ApiKeyIssued", data: key },
    ...bodies.map((body, index) => ({ ...metadata(index + 1), ...body })),
  ]));
}

Deno.test("LogStatistics counts pets by their status now, and additions and changes by hour and key", () => {
  const lines = logOf("available", undefined, [1, "pending"], "sold", [1, "sold"], [2, "sold"], [
    3,
  ]);
  const statistics = new LogStatistics();
  statistics.add(lines.slice(0, 4));
  statistics.add(lines.slice(4));
  assertEquals(Object.fromEntries(statistics.byStatus), {
    available: 0,
    pending: 0,
    sold: 2,
    undefined: 1,
  });
  const activity = [...statistics.byHour].map((
    [hour, { added, changed }],
  ) => [hour, added, changed]);
  assertEquals(activity, [
    ["2026-03-31T22", 0, 0],
    ["2026-03-31T23", 1, 0],
    ["2026-04-01T00", 1, 0],
    ["2026-04-01T01", 0, 1],
    ["2026-04-01T02", 1, 0],
    ["2026-04-01T03", 0, 1],
    ["2026-04-01T04", 0, 1],
    ["2026-04-01T05", 0, 1],
  ]);
  const [{ added, changed, firstUse, lastUse }] = statistics.keys.values();
  assertEquals([added, changed], [3, 4]);
  assertEquals([firstUse, lastUse], ["2026-03-31T23:59:59.999Z", "2026-04-01T05:59:59.999Z"]);
});

Deno.test("LogStatistics counts, of a part of a log, only the status of pets that the part adds", () => {
  const lines = logOf("available", [1, "sold"], "pending", [1], [2, "sold"]);
  for (const [from, byStatus] of [[2, { pending: 0, sold: 1 }], [5, {}]] as const) {
    const statistics = new LogStatistics();
    statistics.add(lines.slice(from));
    assertEquals(Object.fromEntries(statistics.byStatus), byStatus);
    const [{ added, changed }] = statistics.keys.values();
    assertEquals(added + changed, lines.length - from);
  }
});

Deno.test("LogStatistics counts events, and finds the first, the last and the states of the keys", () => {
  // From the last ten seconds of a day on.
  const lines = sampleLog(40, { since: Date.parse("2026-03-31T23:59:49.999Z") });
  const statistics = new LogStatistics();
  statistics.add(encoded(lines.slice(0, 15)));
  statistics.add(encoded(lines.slice(15)));
  const { unreadable, first, last, hash } = statistics;
  assertEquals([statistics.lines, unreadable, hash], [40, 0, sha256Hex(lines[39])]);
  assertEquals([first?.position, first?.time], [1, "2026-03-31T23:59:50.999Z"]);
  assertEquals([last?.position, last?.time], [40, "2026-04-01T00:00:29.999Z"]);
  const keys = [...statistics.keys.values()];
  assertEquals(keys.map(({ key }) => key?.isRevoked), [true, true, true, undefined]);
  const { id, key, firstUse, lastUse } = keys[3];
  assertEquals([id, key?.label, firstUse, lastUse], [
    liveKeyOf(lines),
    "key 31",
    "2026-04-01T00:00:22.999Z",
    "2026-04-01T00:00:29.999Z",
  ]);
});

Deno.test("LogStatistics counts lines that it cannot read, and keys whose issue it has not seen", () => {
  const lines = sampleLog(20);
  const statistics = new LogStatistics();
  statistics.add(encoded(lines.slice(4).with(3, "{}")));
  assertEquals([statistics.lines, statistics.unreadable, statistics.first?.position], [16, 1, 5]);
  assertEquals([...statistics.keys.values()].map(({ key, added }) => [key?.label, added]), [
    [undefined, 3],
    ["key 11", 6],
  ]);
});
