import { assertEquals } from "@std/assert";
import { APPLICATION } from "../../../src/application.ts";
import { type Effects, Preparation } from "../../../src/eventstore_less/append/preparation.ts";
import { WrittenKeys } from "../../../src/eventstore_less/append/written_keys.ts";
import { EMPTY_HEAD, type HeadEntry } from "../../../src/eventstore_less/log/head.ts";
import { decodeEvent } from "../../../src/eventstore_less/log/event.ts";
import { sampleLog } from "../../support/sample_log.ts";

const EVENT = decodeEvent(APPLICATION, sampleLog(1)[0]);

const BASE: HeadEntry = { head: EMPTY_HEAD, versionstamp: "1" };
const NEXT: HeadEntry = { head: { ...EMPTY_HEAD, lastHash: "next" }, versionstamp: "2" };

const NO_EFFECTS: Effects = {
  base: BASE,
  next: NEXT.head,
  lastEvents: new Map(),
  idempotencyKeys: new Set([undefined]),
  groups: new Set([undefined]),
  endsCommit: false,
  written: new WrittenKeys([]),
};

const COMMAND = { subject: "pets/1", idempotencyKey: "key", group: "names" };

/** Commits, and whether the preparation of a command is as of the head after them. */
const COMMITS: Record<string, [commands: Partial<typeof COMMAND>, Partial<Effects>, boolean]> = {
  "a commit of others": [COMMAND, {}, true],
  "a use of another Idempotency-Key": [COMMAND, { idempotencyKeys: new Set(["other"]) }, true],
  "a use of its Idempotency-Key": [COMMAND, { idempotencyKeys: new Set(["key"]) }, false],
  "an event of another group": [COMMAND, { groups: new Set(["others"]) }, true],
  "an event of its group": [COMMAND, { groups: new Set(["names"]) }, false],
  "a change of an API key": [COMMAND, { endsCommit: true }, false],
  "a commit that is not the next one": [COMMAND, { base: NEXT }, false],
  "a commit of others, for a command that names nothing": [{}, {}, true],
};

for (const [what, [command, effects, expected]] of Object.entries(COMMITS)) {
  Deno.test(`follow() leaves a preparation ${expected ? "valid" : "behind"} after ${what}`, () => {
    const preparation = new Preparation({ ...command, prepare() {}, decide: () => [] }, BASE);
    assertEquals([BASE, NEXT].map((head) => preparation.isAsOf(head)), [true, false]);
    preparation.follow({ ...NO_EFFECTS, ...effects });
    assertEquals([BASE, NEXT].map((head) => preparation.isAsOf(head)), [!expected, expected]);
    assertEquals(preparation.last, undefined);
  });
}

Deno.test("follow() keeps the last event of the subject over later commits of others", () => {
  const preparation = new Preparation({ ...COMMAND, prepare() {}, decide: () => [] }, BASE);
  preparation.follow({
    ...NO_EFFECTS,
    lastEvents: new Map([["pets/1", EVENT], ["pets/2", EVENT]]),
  });
  preparation.follow({ ...NO_EFFECTS, base: NEXT, next: { ...EMPTY_HEAD, lastHash: "last" } });
  assertEquals(preparation.last, EVENT);
});

Deno.test("isAsOf() is false in another generation of the projections", () => {
  const preparation = new Preparation({ prepare() {}, decide: () => [] }, BASE);
  assertEquals(preparation.isAsOf({ ...BASE, head: { ...EMPTY_HEAD, generation: 2 } }), false);
});
