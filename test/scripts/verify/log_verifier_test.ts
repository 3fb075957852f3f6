import { LogVerifier } from "../../support/tools.ts";
import { sha256Hex } from "eventstore-less/parts";
import type { EventBody } from "../../../events/all_events.ts";
import type { EventMetadata } from "../../../src/eventstore_less/definitions.ts";
import { OPERATOR } from "../../../src/eventstore_less/log/actor.ts";
import { assertEquals, assertMatch } from "@std/assert";
import type { Pet, PetPatch } from "../../../events/pet.ts";
import { LINE_LIMIT_BYTES } from "../../../src/eventstore_less/log/lines.ts";
import { messageOf, RecentUses } from "../../../src/eventstore_less/tools/verify/log_verifier.ts";
import { linesOf, sampleId, sampleLog } from "../../support/sample_log.ts";

const encoder = new TextEncoder();
const LINES = sampleLog(45);

/** All faults, each with its line number. */
function faultsOf(lines: (string | Uint8Array)[]): string[] {
  const verifier = new LogVerifier();
  return lines.flatMap((line, index) =>
    verifier.verify(typeof line === "string" ? encoder.encode(line) : line)
      .faults.map(({ message }) => `${index + 1}: ${message}`)
  );
}

function notesOf(lines: string[]) {
  const verifier = new LogVerifier();
  return lines.flatMap((line) => verifier.verify(encoder.encode(line)).notes);
}

Deno.test("LogVerifier finds no fault in a sound log, and returns its head", () => {
  assertEquals(faultsOf(LINES), []);
  const verifier = new LogVerifier();
  for (const line of LINES) verifier.verify(encoder.encode(line));
  assertEquals(verifier.head, {
    position: 45,
    counts: { pets: { available: 3, none: 4, pending: 5, sold: 5 }, categories: { named: 2 } },
    lastHash: sha256Hex(LINES[44]),
    types: {
      ApiKeyIssued: { version: "1", count: 5, last: 41 },
      PetCreated: { version: "1", count: 19, last: 44 },
      PetUpdated: { version: "1", count: 7, last: 45 },
      CategoryNamed: { version: "6.0", count: 6, last: 39 },
      ApiKeyRevoked: { version: "1", count: 4, last: 42 },
      PetRemoved: { version: "1", count: 2, last: 35 },
      CategoryRemoved: { version: "6.0", count: 2, last: 29 },
    },
    generation: 1,
  });
});

type Event = EventBody & EventMetadata;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The time `ms` milliseconds after the beginning. */
function at(ms: number): string {
  return new Date(Date.parse("2026-01-01T00:00:00.000Z") + ms).toISOString();
}

let ids = 0;

function metadata(ms: number, actor: string): EventMetadata {
  return { id: sampleId(++ids), time: at(ms), actor };
}

/** A key, and the event that issues it at the beginning. */
function key(more: { expiresAt?: string; readOnly?: true } = {}) {
  const issue = metadata(0, OPERATOR);
  const { id } = issue;
  const tokenHash = sha256Hex(`token of ${id}`);
  const data = { keyId: id, label: "test", tokenHash, ...more };
  return { id, tokenHash, issued: { ...issue, type: "ApiKeyIssued" as const, data } };
}

function revoked(
  ms: number,
  { id: keyId, tokenHash }: { id: string; tokenHash: string },
  effectiveAfterMs = ms,
): Event {
  const data = { keyId, tokenHash, effectiveAt: at(effectiveAfterMs) };
  return { ...metadata(ms, OPERATOR), type: "ApiKeyRevoked", data };
}

function pet(ms: number, actor: string, id: number, idempotencyKey?: string): Event {
  return {
    ...metadata(ms, actor),
    type: "PetCreated",
    data: { id, name: "Rex", categoryId: 1n },
    ...(idempotencyKey === undefined ? {} : { idempotencyKey: sha256Hex(idempotencyKey) }),
  };
}

/** A change of pet 1 by the first key, to Rex and other fields. */
function change(
  ms: number,
  previous: PetPatch,
  after: Partial<Pet> = {},
  idempotencyKey?: string,
) {
  return {
    ...pet(ms, FIRST.id, 1, idempotencyKey),
    type: "PetUpdated" as const,
    data: { id: 1, name: "Rex", categoryId: 1n, ...after, previous },
  };
}

/** The removal of a pet by the first key. */
function removal(ms: number, data: Partial<Pet> = {}, idempotencyKey?: string) {
  const removed = pet(ms, FIRST.id, 1, idempotencyKey);
  const type = "PetRemoved" as const;
  return { ...removed, type, data: { id: 1, name: "Rex", categoryId: 1n, ...data } };
}

/** The restore of a pet by the first key. */
function restored(ms: number, data: Partial<Pet> = {}) {
  return { ...removal(ms, data), type: "PetRestored" as const };
}

/** The first key gives category 7 a name; `previous` is its former name. */
function named(ms: number, name: string, previous?: string, id = 7n) {
  const data = { id, name, ...(previous !== undefined && { previous: { name: previous } }) };
  return { ...metadata(ms, FIRST.id), type: "CategoryNamed" as const, data };
}

/** The first key removes category 7. */
function unnamed(ms: number, name: string, id = 7n) {
  return { ...metadata(ms, FIRST.id), type: "CategoryRemoved" as const, data: { id, name } };
}

const FIRST = key();
const SECOND = key();
const BRIEF = key({ expiresAt: at(HOUR_MS) });
const READER = key({ readOnly: true });
const KEYS = [FIRST.issued, SECOND.issued, BRIEF.issued, READER.issued];

const LATE_KEY = key();
const MISNAMED = { ...LATE_KEY.issued, id: sampleId(++ids) };
const REX = pet(1, FIRST.id, 1);
const SOLD = change(2, { status: null }, { status: "sold" });
const NOT_BEFORE = "its previous does not match pet 1 as it was before";
const NOT_SO = "its data does not match pet 1 as it was before";
const GONE = removal(3, { status: "sold" });
const NOT_AS_REMOVED = "it restores pet 1, but not as it was before its removal";
const isGone = (does: string) => `it ${does} pet 1, which was removed before`;
const readsOnly = `its actor ${READER.id} may only read`;
const wasRevoked = `its actor ${FIRST.id} was revoked before`;

const HAD_NAME = "it has no previous name of category 7, which had one";
const NOT_CATEGORY = (member: string) => `its ${member} does not match category 7 as it was before`;

/** Events after the keys. The last one cannot have happened. All hashes are correct. */
const IMPOSSIBLE: [fault: string, ...Event[]][] = [
  [
    "it names 6, but its subject pets/1 had its last event at position 5",
    REX,
    pet(1, FIRST.id, 2),
    { ...change(2, { status: null }, { status: "sold" }), predecessor: 6 },
  ],
  [
    "it names no predecessor, but its subject pets/1 had its last event at position 6",
    REX,
    SOLD,
    { ...GONE, predecessor: undefined },
  ],
  [
    "it names 5, but its subject pets/2 had no event before",
    REX,
    { ...pet(1, FIRST.id, 2), predecessor: 5 },
  ],
  [
    `it revokes key ${FIRST.id} at a later time than an event before`,
    revoked(1, FIRST, 10),
    revoked(2, FIRST, 11),
  ],
  ["it adds pet 9, but pet 1 was expected", pet(1, FIRST.id, 9)],
  [`its id ${FIRST.id} is that of an earlier event`, { ...REX, id: FIRST.id }],
  ["its actor is the operator, but only a key causes PetCreated", {
    ...REX,
    actor: OPERATOR,
  }],
  ["its previous has the name of category 7, which had none", named(1, "Dogs", "Cats")],
  ["its data has the name of category 7, which had none", unnamed(1, "Dogs")],
  [HAD_NAME, named(1, "Dogs"), named(2, "Cats")],
  [NOT_CATEGORY("previous"), named(1, "Dogs"), named(2, "Cats", "dogs")],
  // As it was two changes before.
  [
    NOT_CATEGORY("previous"),
    named(1, "Dogs"),
    named(2, "Cats", "Dogs"),
    named(3, "Owls", "Dogs"),
  ],
  [NOT_CATEGORY("data"), named(1, "Dogs"), unnamed(2, "dogs")],
  [NOT_CATEGORY("data"), named(1, "Dogs"), unnamed(2, "Dogs"), unnamed(3, "Dogs")],
  ["its previous names name, but did not change it", named(1, "Dogs"), named(2, "Dogs", "Dogs")],
  ["it gives category 8 the name of category 7", named(1, "Dogs"), named(2, "DOGS", undefined, 8n)],
  [
    "it gives category 7 the name of category 8",
    named(1, "Dogs"),
    named(2, "Cats", undefined, 8n),
    named(3, "cats", "Dogs"),
  ],
  ["its actor is the operator, but only a key causes CategoryNamed", {
    ...named(1, "Dogs"),
    actor: OPERATOR,
  }],
  ["it changes pet 1, which was not added before", SOLD],
  ["it changes pet 2, which was not added before", REX, change(2, { name: "Max" }, { id: 2 })],
  [NOT_BEFORE, REX, change(2, { status: "pending" }, { status: "sold" })],
  [
    "its previous names name, but did not change it",
    REX,
    change(2, { name: "Rex", status: null }, { status: "sold" }),
  ],
  ["its previous names status, but did not change it", REX, change(2, { status: null })],
  // As it was two changes before.
  [NOT_BEFORE, REX, SOLD, change(3, { status: null }, { status: "pending" })],
  ["it removes pet 1, which was not added before", GONE],
  [NOT_SO, REX, GONE],
  [NOT_SO, REX, removal(2, { categoryId: 2n })],
  [isGone("removes"), REX, SOLD, GONE, { ...GONE, ...metadata(4, FIRST.id) }],
  [isGone("changes"), REX, removal(2), SOLD],
  ["it restores pet 1, which was not added before", restored(1)],
  ["it restores pet 1, which was not removed before", REX, restored(2)],
  [
    "it restores pet 1, which was not removed before",
    REX,
    removal(2),
    restored(3),
    restored(4),
  ],
  [NOT_AS_REMOVED, REX, removal(2), restored(3, { name: "Max" })],
  // As it was before an earlier removal.
  [
    NOT_AS_REMOVED,
    REX,
    removal(2),
    restored(3),
    change(4, { name: "Rex" }, { name: "Max" }),
    removal(5, { name: "Max" }),
    restored(6),
  ],
  [NOT_BEFORE, REX, removal(2), restored(3), change(4, { status: "sold" }, { name: "Rex" })],
  [readsOnly, REX, removal(2), { ...restored(3), actor: READER.id }],
  ["it adds pet 1, but pet 2 was expected", REX, removal(2), pet(3, FIRST.id, 1)],
  [readsOnly, REX, { ...removal(2), actor: READER.id }],
  [readsOnly, { ...REX, actor: READER.id }],
  [readsOnly, { ...named(1, "Dogs"), actor: READER.id }],
  [`its actor ${LATE_KEY.id} is not a key that was issued before`, pet(1, LATE_KEY.id, 1)],
  [wasRevoked, revoked(MINUTE_MS, FIRST), REX],
  [wasRevoked, revoked(1, FIRST, HOUR_MS), revoked(2, FIRST), pet(3, FIRST.id, 1)],
  [
    `its actor ${FIRST.id} was revoked with effect from ${at(HOUR_MS)}`,
    revoked(MINUTE_MS, FIRST, HOUR_MS),
    pet(HOUR_MS, FIRST.id, 1),
  ],
  [`its actor ${BRIEF.id} expired at ${at(HOUR_MS)}`, pet(HOUR_MS, BRIEF.id, 1)],
  [
    `its actor is key ${FIRST.id}, but only the operator issues keys`,
    { ...LATE_KEY.issued, actor: FIRST.id },
  ],
  [`its keyId ${LATE_KEY.id} is not its id ${MISNAMED.id}`, MISNAMED],
  [
    `key ${LATE_KEY.id} or its token was issued before`,
    { ...LATE_KEY.issued, data: { ...LATE_KEY.issued.data, tokenHash: FIRST.tokenHash } },
  ],
  [`it revokes key ${LATE_KEY.id}, which was not issued before`, revoked(1, LATE_KEY)],
  [
    `it revokes key ${FIRST.id} under a token hash that is not the key's`,
    revoked(1, { ...FIRST, tokenHash: SECOND.tokenHash }),
  ],
];

/** Events after the keys. The last one has an Idempotency-Key that was used at that position, and was still valid. */
const REPEATED: [usedAt: number, ...Event[]][] = [
  [5, pet(1, FIRST.id, 1, "once"), removal(2, {}, "once")],
  [6, REX, removal(2, {}, "once"), pet(3, FIRST.id, 2, "once")],
  [
    5,
    pet(HOUR_MS, FIRST.id, 1, "once"),
    pet(2 * HOUR_MS, FIRST.id, 2),
    pet(HOUR_MS + DAY_MS - 2 * MINUTE_MS, FIRST.id, 3, "once"),
  ],
  // The clocks differ by as little as clocks do.
  [
    5,
    pet(HOUR_MS, FIRST.id, 1, "once"),
    pet(HOUR_MS - MINUTE_MS, FIRST.id, 2),
    pet(2 * HOUR_MS, FIRST.id, 3, "once"),
  ],
  // A clock was set back before both, between them, or before the second one.
  [
    6,
    pet(2 * HOUR_MS, FIRST.id, 1),
    pet(HOUR_MS, FIRST.id, 2, "once"),
    pet(2 * HOUR_MS, FIRST.id, 3, "once"),
  ],
  [
    5,
    pet(3 * DAY_MS, FIRST.id, 1, "once"),
    pet(2 * DAY_MS, FIRST.id, 2),
    pet(3 * DAY_MS + HOUR_MS, FIRST.id, 3, "once"),
  ],
];

const POSSIBLE: Record<string, Event[]> = {
  "names of categories that differ in what nobody sees, of an earlier version": [
    named(1, "Dogs"),
    named(2, "do\u200bgs", undefined, 8n),
    named(3, "Dogs\u00ad", "Dogs"),
  ],
  "a pet before a delayed revocation takes effect": [
    revoked(MINUTE_MS, FIRST, HOUR_MS),
    pet(HOUR_MS - 1, FIRST.id, 1),
  ],
  "a pet before the revocation of its key, at a later time by another clock": [
    pet(MINUTE_MS, FIRST.id, 1),
    revoked(1, FIRST),
  ],
  "a pet before the issue of its key by another clock": [pet(-MINUTE_MS, FIRST.id, 1)],
  "a pet before its key expires": [pet(HOUR_MS - 1, BRIEF.id, 1)],
  "an Idempotency-Key that is used again after a day": [
    pet(HOUR_MS, FIRST.id, 1, "once"),
    pet(HOUR_MS + DAY_MS - MINUTE_MS, FIRST.id, 2, "once"),
  ],
  "a pet that gets a status, another and none, by several keys and under an Idempotency-Key": [
    pet(1, FIRST.id, 1, "once"),
    { ...change(2, { status: null }, { status: "sold" }, "once"), actor: SECOND.id },
    change(3, { name: "Rex", categoryId: 1n, status: "sold" }, {
      name: "Max",
      categoryId: -2n,
      status: "pending",
    }),
    change(4, { name: "Max", categoryId: -2n, status: "pending" }),
  ],
  "a pet that is changed and removed, by several keys and under an Idempotency-Key, and the next one":
    [
      REX,
      SOLD,
      { ...removal(3, { status: "sold" }, "once"), actor: SECOND.id },
      pet(4, FIRST.id, 2),
    ],
  "a pet that is removed and restored twice, by several keys and under an Idempotency-Key": [
    REX,
    SOLD,
    GONE,
    { ...restored(4, { status: "sold" }), actor: SECOND.id },
    change(5, { status: "sold" }),
    removal(6, {}, "once"),
    restored(7),
    pet(8, FIRST.id, 2),
  ],
  "an erased pet that was restored before": [
    { ...removal(1, { name: "(removed)" }), type: "PetCreated" as const },
    removal(2, { name: "(removed)" }),
    restored(3, { name: "(removed)" }),
  ],
  "categories that get each other's names, also of another case, and are named again": [
    named(1, "Dogs"),
    named(2, "DOGS", "Dogs"),
    named(3, "Cats", "DOGS"),
    named(4, "dogs", undefined, 8n),
    unnamed(5, "dogs", 8n),
    named(6, "dogs", "Cats"),
    named(7, "cats", undefined, 8n),
    unnamed(8, "dogs"),
    named(9, "dogs"),
  ],
  "categories with erased names": [
    named(1, "(removed)"),
    named(2, "(removed)", undefined, 8n),
    named(3, "(removed) 2", "(removed)"),
    unnamed(4, "(removed)", 8n),
  ],
  "an Idempotency-Key that two actors use": [
    pet(HOUR_MS, FIRST.id, 1, "once"),
    pet(HOUR_MS, SECOND.id, 2, "once"),
  ],
};

Deno.test("LogVerifier finds histories that the service cannot have written, and no others", () => {
  for (const [fault, ...events] of IMPOSSIBLE) {
    const lines = linesOf([...KEYS, ...events]);
    assertEquals(faultsOf(lines), [`${lines.length}: ${fault}`]);
  }
  for (const [name, events] of Object.entries(POSSIBLE)) {
    const lines = linesOf([...KEYS, ...events]);
    assertEquals([faultsOf(lines), notesOf(lines)], [[], []], name);
  }
});

Deno.test("LogVerifier notes an Idempotency-Key that is used again within a day, which is no fault", () => {
  for (const [usedAt, ...events] of REPEATED) {
    const lines = linesOf([...KEYS, ...events]);
    const position = lines.length;
    const kind = "idempotency_key_repeated" as const;
    const message =
      `Event ${position} has the Idempotency-Key of event ${usedAt}, less than a day after it`;
    assertEquals(faultsOf(lines), []);
    assertEquals(notesOf(lines), [{ kind, positions: [usedAt, position], message }]);
  }
});

Deno.test("LogVerifier reports a wrong change once, and none of a pet that an unreadable line may have changed", () => {
  const events = [...KEYS, REX, SOLD];
  const pending = change(3, { status: "sold" }, { status: "pending" });
  const wrong = change(2, { status: "available" }, { status: "sold" });
  assertEquals(faultsOf(linesOf([...events.slice(0, -1), wrong, pending])), [`6: ${NOT_BEFORE}`]);
  const lines = linesOf([...events, pending, { ...SOLD, ...metadata(4, FIRST.id) }]);
  assertEquals(faultsOf(lines), [`8: ${NOT_BEFORE}`]);
  // A wrong removal is one fault, and the pet is removed from then on.
  const removed = [...events.slice(0, -1), removal(2, { name: "Max" })];
  assertEquals(faultsOf(linesOf([...removed, GONE])), [
    `6: ${NOT_SO}`,
    `7: ${isGone("removes")}`,
  ]);
  // Line 7 is lost, or cannot be read, or the first five lines are lost.
  const ofLine8 = (faults: string[]) => faults.filter((fault) => fault.includes(NOT_BEFORE));
  assertEquals(ofLine8(faultsOf(lines.toSpliced(6, 1))), []);
  assertEquals(ofLine8(faultsOf(lines.with(6, "{}"))), []);
  const verifier = new LogVerifier();
  verifier.skipTo(5);
  assertEquals(
    lines.slice(5).map((line) => messageOf(verifier.verify(encoder.encode(line)).faults)),
    ["", "", NOT_BEFORE],
  );
});

Deno.test("LogVerifier finds no fault in names after lines that cannot be read", () => {
  const lines = linesOf([
    ...KEYS,
    named(1, "Dogs"),
    named(2, "Cats", "Dogs"),
    named(3, "Dogs", undefined, 8n),
    named(4, "Owls", "Cats"),
    unnamed(5, "Dogs", 8n),
  ]);
  // Line 6 frees the name that line 7 gives.
  const faults = faultsOf(lines.with(5, "{}"));
  assertEquals(faults.filter((fault) => /[78]: .*(categor|previous does)/.test(fault)), []);
});

Deno.test("LogVerifier finds lines that are not events of this log, and continues after them", () => {
  const foreign: [string | Uint8Array, RegExp][] = [
    ["", /^8: The line is not JSON/],
    [`${LINES[7]}\r`, /^8: The line differs from the bytes that the service writes, for example/],
    [LINES[7].replace("PetCreated", "PetSold"), /^8: The line differs /],
    [
      LINES[7].replace("pet-created:1", "pet-created:99.10"),
      /^8: A newer release wrote the line: its schema urn:animal-store:pet-created:99.10 needs release 99.10$/,
    ],
    [
      LINES[7].replace("PetCreated", "PetSold").replace("pet-created:1", "pet-sold:6.3"),
      /^8: A newer release wrote the line: its schema urn:animal-store:pet-sold:6.3 needs release 6.3$/,
    ],
    // Such a version may also have added a member.
    [
      LINES[7].replace("pet-created:1", "pet-created:7").replace('"actor"', '"more":1,"actor"'),
      /^8: A newer release wrote the line: its schema urn:animal-store:pet-created:7 needs release 7$/,
    ],
    [LINES[7].replace('"actor"', '"more":1,"actor"'), /^8: The line differs /],
    [new Uint8Array([0xff]), /^8: The line is not valid UTF-8$/],
    ["x".repeat(LINE_LIMIT_BYTES + 1), /^8: The line is longer than 65531 bytes$/],
  ];
  for (const [line, words] of foreign) {
    const faults = faultsOf([...LINES.slice(0, 7), line, ...LINES.slice(8)]);
    assertMatch(faults[0], words);
    assertEquals(faults.filter((fault) => !/^[89]: /.test(fault)), []);
  }
});

Deno.test("RecentUses finds the last use of a name, and as many recent uses as its limit", () => {
  const limit = 100;
  const uses = new RecentUses<number>(limit);
  for (let name = 1; name <= 3 * limit; name++) {
    assertEquals(uses.add(`Use ${name}`, name), undefined);
  }
  for (let name = 2 * limit + 1; name <= 3 * limit; name++) {
    assertEquals(uses.add(`Use ${name}`, -name), name);
    assertEquals(uses.add(`Use ${name}`, 0), -name);
  }
  assertEquals(uses.add("Use 1", 0), undefined);
  assertEquals(uses.add(`USE ${3 * limit}`, 0), undefined, "actors can differ in case alone");
});

Deno.test("consequencesOfCut() names the keys that a cut makes valid or unknown, and no others", () => {
  const now = Date.parse(at(DAY_MS));
  let position = 0;
  const operate = (body: EventBody, ms: number): Event => {
    position++;
    return { ...body, id: sampleId(position), time: at(ms), actor: OPERATOR };
  };
  const issue = (label: string, terms: { expiresAt?: string } = {}) => {
    const data = { keyId: sampleId(position + 1), label, tokenHash: sha256Hex(label), ...terms };
    return operate({ type: "ApiKeyIssued", data }, 0);
  };
  const revoke = (number: number, label: string, ms: number, effectiveMs = ms) => {
    const data = {
      keyId: sampleId(number),
      tokenHash: sha256Hex(label),
      effectiveAt: at(effectiveMs),
    };
    return operate({ type: "ApiKeyRevoked", data }, ms);
  };
  const beginning = [
    issue("kept"),
    issue("revoked"),
    issue("rotated"),
    issue("revoked before"),
    issue("expired", { expiresAt: at(HOUR_MS) }),
    issue("retired before"),
    revoke(4, "revoked before", 1),
    revoke(6, "retired before", 2, HOUR_MS),
  ];
  const rest = [
    revoke(2, "revoked", 3),
    revoke(3, "rotated", 4, 2 * DAY_MS),
    revoke(5, "expired", 5),
    revoke(6, "retired before", 6),
    issue("later"),
    issue("later, revoked"),
    revoke(14, "later, revoked", 7),
  ];
  const verified = (lines: string[]) => {
    const verifier = new LogVerifier();
    for (const line of lines) verifier.expectSound(encoder.encode(line));
    return verifier;
  };
  const lines = linesOf([...beginning, ...rest]);
  const cut = verified(lines.slice(0, beginning.length));
  const lost = (number: number, label: string, ms: number) => {
    const again = `Key ${sampleId(number)} (${label}) is valid again`;
    return `${again}: its revocation with effect from ${at(ms)} is left out.`;
  };
  assertEquals(cut.consequencesOfCut(verified(lines), now), [
    lost(2, "revoked", 3),
    lost(3, "rotated", 2 * DAY_MS),
    `Key ${sampleId(13)} (later) is refused: its issue is left out.`,
  ]);
  assertEquals(cut.consequencesOfCut(cut, now), []);
});
