import type { RecordedEvent } from "../../../events/all_events.ts";
import { APPLICATION } from "../../../src/application.ts";
import { OPERATOR } from "../../../src/eventstore_less/log/actor.ts";
import { assertEquals } from "@std/assert";
import { setColorEnabled } from "@std/fmt/colors";
import { encodeEvent, GENESIS_HASH } from "../../../src/eventstore_less/log/event.ts";
import type { CategoryEventBody } from "../../../events/category.ts";
import { formerValuesOf, type NewPet } from "../../../events/pet.ts";
import { prettyEvent } from "../../../scripts/log/pretty_event.ts";

const REX: NewPet = { name: "Rex", categoryId: 2n ** 62n };

/** Changes, and how they are shown. */
const CHANGES: [before: NewPet, after: NewPet, shown: string][] = [
  [{ ...REX, status: "available" }, { ...REX, status: "sold" }, "status available -> sold"],
  [REX, { ...REX, status: "pending" }, "status none -> pending"],
  [{ ...REX, status: "sold" }, REX, "status sold -> none"],
  [
    { ...REX, status: "sold" },
    { name: "sold", categoryId: -1n, status: "pending" },
    'name "Rex" -> "sold", categoryId 4611686018427387904 -> -1, status sold -> pending',
  ],
  [
    { ...REX, name: 'a", b \u001b[31m' },
    { ...REX, name: "\u202e\n🐈" },
    'name "a\\", b \\u001b[31m" -> "\\u202e\\n🐈"',
  ],
];

const METADATA = {
  id: "01HZZZZZZZ0000000000000001",
  time: "2026-11-20T08:00:00.000Z",
  actor: OPERATOR,
  position: 12,
  previousHash: GENESIS_HASH,
};

Deno.test("prettyEvent() shows of a change only what changed, without characters that control a terminal", () => {
  setColorEnabled(false);
  for (const [before, after, shown] of CHANGES) {
    const pet = { id: 7, ...after };
    const event: RecordedEvent = {
      type: "PetUpdated",
      data: { ...pet, previous: formerValuesOf({ id: 7, ...before }, pet) },
      ...METADATA,
    };
    const line = new TextEncoder().encode(encodeEvent(APPLICATION, event));
    assertEquals(
      prettyEvent({ position: 12, line }, event, new Map()),
      `2026-11-20T08:00:00.000Z       12 PetUpdated      ${"pets/7".padEnd(31)} operator ${shown}`,
    );
  }
});

Deno.test("prettyEvent() shows the name of a category, and the former one", () => {
  setColorEnabled(false);
  const id = -(2n ** 63n);
  const cases: [body: CategoryEventBody, shown: string][] = [
    [{ type: "CategoryNamed", data: { id, name: "Dogs" } }, `{"id":${id},"name":"Dogs"}`],
    [
      { type: "CategoryNamed", data: { id, name: "Dogs", previous: { name: "\u202eCats" } } },
      'name "\\u202eCats" -> "Dogs"',
    ],
    [{ type: "CategoryRemoved", data: { id, name: "Dogs" } }, `{"id":${id},"name":"Dogs"}`],
  ];
  for (const [body, shown] of cases) {
    const event: RecordedEvent = {
      ...body,
      ...METADATA,
    };
    const line = new TextEncoder().encode(encodeEvent(APPLICATION, event));
    assertEquals(
      prettyEvent({ position: 12, line }, event, new Map()),
      `2026-11-20T08:00:00.000Z       12 ${
        body.type.padEnd(15)
      } categories/${id} operator ${shown}`,
    );
  }
});
