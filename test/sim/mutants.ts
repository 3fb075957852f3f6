/** Deliberate faults in the code. The simulator must find each of them. */

import SEEDS from "./mutant_seeds.json" with { type: "json" };
import type { Patch } from "./patch.ts";
import { type Inject, PORT_FAULTS } from "./port_faults.ts";

/** The code with a fault, either injected through a port or patched into a source. */
export type Mutant =
  & {
    name: string;
    /** The seed that found it last. `deno task sim --mutants` updates these. */
    seed?: number;
  }
  & ({ kind: "port"; inject: Inject } | { kind: "patch"; patch: Patch });

/** Number of seeds, from 1 on, within which every mutant must be found. */
export const MUTANT_SEEDS = 5_000;

/** The edits of each patch, by file and name. */
const EDITS: Record<string, Record<string, Patch["edits"]>> = {
  "src/eventstore_less/append/appender.ts": {
    "an unclear commit counts as landed if the head moved, without comparing the record": {
      "#commitUntilKnown": ["bytesEqual(entry?.value, firstLogRecord.value)", "true"],
    },
    "the append deadline uses the wall clock": {
      append: ["runtime.monotonicNow()", "runtime.now()"],
      "#rejectOverdue": ["runtime.monotonicNow()", "runtime.now()"],
    },
    "a settled command is still appended": { "#plan": ["=> !isSettled", "=> true"] },
    "a plan without events is taken for confirmed on a stale head": {
      "#confirm": ["head.versionstamp === base.versionstamp", "true"],
    },
    "a plan that has lost is taken for confirmed": {
      "#commit": ['return "outdated";', 'return "confirmed";'],
    },
    "commands are acknowledged before the commit": {
      "#commit": [
        "const outcome =",
        "for (const member of batch.members) this.#settle(member);\nconst outcome =",
      ],
    },
  },
  "src/eventstore_less/append/queued_command.ts": {
    "an unclear outcome is reported as nothing stored": {
      rejectOverdue: ["if (mayBeStored)", "if (false)"],
    },
  },
  "src/eventstore_less/append/batch.ts": {
    "a request that changes nothing shows the pet from before a change of its commit": {
      decide: ['fate.kind === "adds" || lastOfSubject === undefined', "true"],
    },
    "a write of a batch passes one that is decided again": {
      decideAll: ['if (fate.kind === "waits") sequences.add(sequence);', ""],
    },
  },
  "src/eventstore_less/append/command_queue.ts": {
    "two names are decided on the same names in one commit": {
      Obstacles: ["this.#groups.has(group)", "false"],
    },
    "a write of a batch passes one that is still being prepared": {
      Obstacles: ["!this.#sequences.has(sequence)", "true"],
    },
  },
  "src/eventstore_less/consumers/consumer.ts": {
    "an event is passed although its handler has failed": {
      "#pass": ["await this.#pause(pauseMs, run);", "break;"],
    },
  },
  "src/eventstore_less/consumers/consumer_group.ts": {
    "an instance takes over from another one that works": {
      "#take": ["isFree || isUnchanged", "true"],
    },
    "an instance that takes over begins where the consumer was added": {
      "#findPlace": [
        "known ?? await this.#placeAt(after, head)",
        "await this.#placeAt(after, head)",
      ],
    },
    "after a restore, events are sent again": {
      "#findPlace": ["known === undefined && after < record.since", "false"],
    },
  },
  "src/eventstore_less/append/preparation.ts": {
    "a command is decided on what it read before commits of others": {
      Preparation: ["head.lastHash === this.#head.lastHash &&", ""],
    },
    "a command does not see a use of its Idempotency-Key while it waits": {
      Preparation: ["idempotencyKeys.has(idempotencyKey)", "false"],
    },
    "a command does not see a change of its pet while it is prepared": {
      Preparation: ["this.last = last ?? this.last;", ""],
    },
    "a command is decided with an API key that was revoked while it is prepared": {
      Preparation: ["|| endsCommit", ""],
    },
  },
  "src/eventstore_less/store/commit_until_known.ts": {
    "an unclear commit counts as lost without a read-back": {
      commitUntilKnown: [
        "const guard = await guarded.readGuard();",
        'if (isUnclear) return { state: "lost" };\nconst guard = await guarded.readGuard();',
      ],
    },
  },
  "src/keys/api_key_reader.ts": {
    "a read-only key may write": { expectMayWrite: ["if (isReadOnly)", "if (false)"] },
    "a cached key is used after key events": {
      "#cachedAt": [
        "cached?.generation === head.generation && cached.apiKeyPosition === apiKeyPositionOf(head)",
        "true",
      ],
    },
  },
  "src/keys/api_key.ts": {
    "an immediate revocation waits for the clock": {
      revoke: ["if (isAtOnce) apiKey.isRevoked = true;", ""],
    },
  },
  "src/animals/pet_reader.ts": {
    "an instance follows its own commit although another one has changed a pet": {
      follow: ["&& changePosition === changePositionOf(base.head)", ""],
    },
    "an instance does not follow its own removals": { noteEvent: ["pets.delete(id);", "{}"] },
    "a page is kept although the instance has changed a pet": {
      follow: [
        "...newCaches(generation, changePositionOf(next)), pets",
        "...this.#caches, changePosition: changePositionOf(next)",
      ],
    },
    "the cached newest page is used after pets were added": { pageName: ["${newest}/", ""] },
    "a cached page below a cursor is used although the cursor was beyond the newest pet": {
      pageName: ["${newest}/", "${(cursor ?? Infinity) < Infinity || newest}/"],
    },
    "pages of both orders share the cache": { pageName: ["${order}/", ""] },
    "searches for all names share the cache": { pageName: ['${name ?? ""}', ""] },
    "an instance does not follow the changes of others": {
      "#cachesFor": ["changePosition < changePositionOf(head)", "false"],
    },
    "a page that lost a pet stays cached": {
      "#cachesFor": [
        "newCaches(head.generation, changePositionOf(head))",
        "{ ...newCaches(head.generation, changePositionOf(head)), pages: this.#caches.pages }",
      ],
    },
    "a pet stays cached after a change": {
      "#cachesFor": [
        "newCaches(head.generation, changePositionOf(head))",
        "{ ...newCaches(head.generation, changePositionOf(head)), pets: this.#caches.pets }",
      ],
    },
    "pages of removed pets share the cache with others": { pageName: ["${removed}/", ""] },
    "pages of all categories share the cache": { pageName: ["${categoryId}/", ""] },
    "a page names the head of its request": {
      list: ["pageOf(read.pets, query, read.head", "pageOf(read.pets, query, head"],
    },
  },
  "src/animals/batch_pets.ts": {
    "the writes of a batch are no sequence": {
      inSequence: ["{ ...command, sequence }", "command"],
    },
    "the parts of a batch share one Idempotency-Key": {
      partNames: ["`${batch}/${index}`", "`${batch}/0`"],
    },
  },
  "src/webhooks/delivery/delivery.ts": {
    "an event counts as delivered although the receiver has not confirmed it": {
      deliver: ["if (isConfirmed(attempt)) return;", "if (attempt) return;"],
    },
    "a webhook gets events of all types": {
      "#isWanted": ["types === undefined ||", "true ||"],
    },
  },
  "src/keys/idempotent_parts.ts": {
    "a batch that is repeated is carried out again": {
      withPart: ["{ ...command, idempotency }", "command"],
    },
    "another batch is carried out with the same Idempotency-Key": {
      expectUnusedBeside: ["used.every((hash) => own.includes(hash))", "true"],
    },
  },
  "src/animals/page_reader.ts": {
    "a page of all pets is read as if ids had no gaps": {
      PageReader: ["&& !hasGaps(head)", ""],
    },
  },
  "src/animals/category_reader.ts": {
    "a page of a category is not read again after pets moved": {
      readCategory: ["index.changedAt(categoryId) <= position", "true"],
    },
    "a page of a category lacks pets that the index has before its head": {
      readCategory: ["idsOf(query, Infinity)", "idsOf(query, head.types.PetCreated?.count ?? 0)"],
    },
  },
  "src/api/collection_reader.ts": {
    "an instance does not follow the names that another one gives": {
      CollectionReader: ["!this.#isBefore(this.#cached.head, head)", "true"],
    },
    "categories that changed during a read are not read again": {
      "#read": ["!this.#isBefore(asOf, now)", "true"],
    },
  },
  "src/categories/write_category.ts": {
    "a name is not compared with those of other categories": {
      expectFreeName: ["other.foldedName !== foldedName", "true"],
    },
    "a category that is named again does not name its removal": {
      namingRule: ["predecessor: removedAt", "predecessor: undefined"],
    },
    "the ETag of a category is not checked": {
      expectCategory: ["isExpected(category.text)", "true"],
    },
    "the If-None-Match of a category is not checked": {
      expectCategory: ["isExcluded?.(category.text)", "false"],
    },
  },
  "src/animals/pet_search.ts": {
    "a search leaves out what follows its page": {
      read: ["return endedAt(", "found.splice(query.limit); return endedAt("],
    },
  },
  "src/animals/pet_index.ts": {
    "a removed pet stays in its category": {
      add: ['type === "PetRemoved" ? undefined :', ""],
    },
    "a restored pet stays in the list of removed ones": {
      add: ["this.removals.end(predecessor!, position);", "{}"],
    },
    "pages of a category show all statuses": { find: ["status === undefined ? 0 :", "true ? 0 :"] },
    "an index does not note that a pet leaves a category": {
      add: ["this.#changedAt[bucketOf(formerCategory)] = position;", ""],
    },
  },
  "src/animals/pet_index_reader.ts": {
    "an index does not follow the commits of other instances": {
      "#followTo": ["index.position < position", "false"],
    },
    "an index is filled without the events that come meanwhile": {
      "#fill": ["await this.#addEvents(index, now.position);", "index.position = now.position;"],
    },
  },
  "src/animals/removed_pets.ts": {
    "a page of removed pets names a head before those that were removed or restored": {
      readRemovedPets: ["removals.changedAt <= asOf.position", "true"],
    },
    "the next page of removed pets begins with an id": {
      readRemovedPets: ["next: ended.pets.at(-1)!.position", "next: ended.next"],
    },
  },
  "src/animals/page.ts": {
    "a page skips the pet that follows its last one": { endedAt: ["shown.at(-1)", "pets.at(-1)"] },
    "a page starts with the pet of its cursor": {
      idsOf: ["(cursor ?? Infinity) - 1", "(cursor ?? Infinity)"],
    },
    "a page in the order of addition starts with the pet of its cursor": {
      idsOf: ["(cursor ?? 0) + 1", "(cursor ?? 1)"],
    },
    "a page that does not show all pets of a category counts those that it shows": {
      pageOf: ["isWhole && !", "!"],
    },
  },
  "src/eventstore_less/feed/event_feed.ts": {
    "the id of an event is not checked against the hash of the line": {
      expectSameId: ["logId !== clientId", "false"],
    },
  },
  "src/animals/list_pets.ts": {
    "a cached page counts the pets of the head at which it was read": {
      showPage: ["totalOf(query, page, head)", "totalOf(query, page, page.head)"],
    },
  },
  "src/animals/page_response.ts": {
    "a list names the head of its request although the page is later": {
      pageResponse: ["headOf(page, entry)", "entry.head"],
    },
  },
  "src/http/events.ts": {
    "a stream sends the position of an event before the event": {
      writeOf: [
        "if (passedId === undefined)",
        "texts = texts.flatMap((it) => [it.subarray(0, it.indexOf(10)), encoder.encode('\\n\\n'), it]);\n" +
        "if (passedId === undefined)",
      ],
    },
    "the next request of a batch begins at the head": {
      respondWithBatch: ["queryAfter(cursor.place.id", "queryAfter(feedPositionOf(entry.head).id"],
    },
    "a stream misses events between its request and its first look at the head": {
      eventStream: [
        "cursor.isBehind(look) || isQuiet()",
        "{\n" +
        "if (!(cursor as any).hasLooked) cursor.place = feedPositionOf(look.head);\n" +
        "(cursor as any).hasLooked = true;\n" +
        "return cursor.isBehind(look) || isQuiet();\n" +
        "}",
      ],
    },
    "a stream does not pass the position of events that its filter leaves out": {
      writeOf: ["[...texts, position]", "texts"],
    },
    "a wait does not notice the events that come during it": {
      awaitEvents: ["cursor.isBehind(look)", "false"],
      eventStream: ["cursor.isBehind(look) ||", ""],
    },
  },
  "src/eventstore_less/feed/followers.ts": {
    "streams and waits of a revoked key go on": {
      "#tell": ["if (!(error instanceof StoreError)) this.#end(token, error); return;", ""],
    },
    "a commit during a look at the head does not make the next look be soon": {
      "#look": [
        "await heads.read().catch(() => undefined);",
        "await heads.read().catch(() => undefined);\nthis.#alarm = new Alarm();",
      ],
    },
  },
  "src/eventstore_less/event_command.ts": {
    "an Idempotency-Key is not looked up again after the head changed": {
      prepareCommand: [
        "const earlier =",
        "const { looked } = command as any;\n(command as any).looked = true;\n" +
        "const earlier = looked ? [] :",
      ],
    },
    "a repeated removal is not found": {
      commandOf: [
        "if (earlier.length > 0) return [];",
        'if (earlier.length > 0 && earlier[0].type !== "PetRemoved") return [];',
      ],
    },
  },
  "src/keys/write_with_key.ts": {
    "a write is authorized by the clock alone, which may have been set back": {
      authorize: ["Math.max(runtime.now(), Date.parse(time))", "runtime.now()"],
    },
    "a duplicate response is given for a different request": {
      expectOutcome: ["if (rule.isOutcome(earlier))", "if (true)"],
    },
  },
  "src/animals/write_pet.ts": {
    "a pet is not read again after the head changed": {
      writePet: [
        "deps.pets.getState(petId, base)",
        "((rule as any).read ??= deps.pets.getState(petId, base))",
      ],
    },
    "a condition is not checked": { expectText: ["isExpected(text)", "true"] },
    "a line names no predecessor": {
      changeRule: [", predecessor: position", ""],
      removalRule: [", predecessor: position", ""],
    },
    "a repeated removal is taken for one of another pet": {
      removalRule: ["&& data.id === petId", ""],
    },
    "a restore does not name the removal": { restoreRule: [", predecessor: position", ""] },
    "a pet that is there is restored": { expectRemoved: ["!before.isRemoved", "false"] },
  },
  "src/eventstore_less/projections/project.ts": {
    "an Idempotency-Key is not recorded": {
      projectOne: ["event.idempotencyKey === undefined", "true"],
    },
    "the Idempotency-Key of a removal is not recorded": {
      projectOne: [
        "event.idempotencyKey === undefined",
        'event.idempotencyKey === undefined || event.type === "PetRemoved"',
      ],
    },
  },
  "src/animals/pets.ts": {
    "a pet that was sold still counts under its former status": {
      CHANGE: ["[petListOf(previous.status), -1],", ""],
    },
    "a removed pet still counts": { PetRemoved: ["[[petListOf(status), -1]]", "[]"] },
    "a removed pet comes back": {
      PetRemoved: ["{ key: petKey(petListOf(data.status), data.id) },", ""],
    },
    "a restored pet keeps the record of its removal": {
      PetRestored: ["{ key: removedPetKey(data.id) },", ""],
    },
    "a restored pet does not count": { PetRestored: ["[[petListOf(status), 1]]", "[]"] },
    "a removed pet leaves no record": { PetRemoved: [", removal]", "]"] },
    "a changed pet stays in the list of its former status": {
      CHANGE: ["{ key: petKey(petListOf(status), id) },", ""],
    },
  },
  "src/animals/pet_counts.ts": {
    "a removal does not outdate what instances have cached": {
      CHANGES: ['type !== "PetCreated"', 'type === "PetUpdated"'],
    },
    "a restore does not outdate what instances have cached": {
      CHANGES: ['type !== "PetCreated"', '!["PetCreated", "PetRestored"].includes(type)'],
    },
  },
  "src/animals/pet_history.ts": {
    "the verifier accepts events of a removed pet": {
      "#checkBefore": ["[`it ${does} pet ${id}, which was removed before`]", "[]"],
    },
  },
  "src/keys/api_key_position.ts": {
    "a revocation does not move the key position of the head": {
      apiKeyPositionOf: ["types.ApiKeyRevoked?.last ?? 0", "0"],
    },
  },
  "src/eventstore_less/idempotency/earlier_events.ts": {
    "an Idempotency-Key never expires": {
      findEarlierEvents: [
        "Date.parse(decodeRecord(application, entry).expiresAt) <= timeMs",
        "false",
      ],
    },
  },
  "src/eventstore_less/store/commit_size.ts": {
    "a commit takes items beyond its limits": { sealCommit: ["fill <= 1 ||", "true ||"] },
  },
  "src/eventstore_less/keyspace.ts": {
    "idempotency records are removed without a margin for wrong clocks": {
      RETENTION_MARGIN_MS: ["60 * 60 * 1_000", "0"],
    },
  },
  "src/eventstore_less/idempotency/idempotency_key_sweep.ts": {
    "the sweep follows the wall clock alone": {
      "#sweep": ["await logTime(application, store, runtime, position)", "runtime.now()"],
    },
    "the sweep trusts a clock that has jumped": {
      "#watchClock": ["Math.abs(movedMs) <= CLOCK_JUMP_MS", "true"],
    },
  },
  "src/eventstore_less/store/resilience/circuit_breaker.ts": {
    "a store that was unavailable stays unavailable": { trip: ['this.#state = "closed";', ""] },
    "a store call has no time limit": { CALL_LIMIT_MS: ["2_000", "20_000"] },
  },
  "src/eventstore_less/tools/rebuild.ts": {
    "a generation is served before it is filled": {
      rebuild: [
        "await fillUntilNearHead(job); await judge(job);",
        "const early = await readHead(application, store);\n" +
        "await claim.replaceHead(early, { ...early.head, generation }, []);\n" +
        "await fillUntilNearHead(job);\nawait judge(job);",
      ],
    },
    "a replay applies the changes of a commit in another order": {
      sealerOf: ["project(application, lines)", "project(application, lines.toReversed())"],
    },
    "a replay serves a generation without the last events": {
      switchTo: [
        "(await Array.fromAsync(takeLinesTo(job, head.position))).flat()",
        "[] as RecordedLine[]",
      ],
    },
    "the old generation is removed without a grace period": {
      GRACE_MS: ["HEAD_LIMIT_MS + 1_000", "0"],
    },
    "the old generation is not removed": {
      rebuild: ['await remove(job, "remove", beforeGeneration(generation));', ""],
    },
  },
  "src/eventstore_less/tools/restore/write_export.ts": {
    "a resumed restore skips a line": { restoredIn: ["return restored;", "return restored + 1;"] },
  },
  "src/eventstore_less/log/read_log.ts": {
    "a log read from within a record begins with the record": {
      readLog: ["position >= next &&", ""],
    },
  },
  "src/eventstore_less/tools/verify/audit.ts": {
    "an audit takes a turn request for a record of another program": {
      auditRest: ["|| isTurnRequestKey(key)", ""],
    },
  },
  "src/eventstore_less/tools/verify/later_events.ts": {
    "an audit takes changes during the audit for differences": {
      "#note": ["digests.push(digestAfter(key, content));", ""],
    },
  },
  "src/life_cycle/shut_down.ts": {
    "a shutdown does not wait for the outcomes of commands": {
      shutDown: ["Promise.race([drained,", "Promise.race([undefined,"],
    },
  },
};

/** The mutants that change a source, which also a copy of the project can have. */
export const PATCHES: Patch[] = Object.entries(EDITS).flatMap(([file, patches]) =>
  Object.entries(patches).map(([name, edits]) => ({ name, file, edits }))
);

const seedOf = (name: string) => (SEEDS as Record<string, number>)[name];

export const MUTANTS: Mutant[] = [
  ...Object.entries(PORT_FAULTS).map(([name, inject]): Mutant => {
    return { kind: "port", name, inject, seed: seedOf(name) };
  }),
  ...PATCHES.map((patch): Mutant => {
    return { kind: "patch", name: patch.name, patch, seed: seedOf(patch.name) };
  }),
];
