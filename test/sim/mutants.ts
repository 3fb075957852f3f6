/** Deliberate faults in the code. The simulator must find each of them. */

import SEEDS from "./mutant_seeds.json" with { type: "json" };

export interface Mutant {
  name: string;
  file: string;
  /** Texts that occur exactly once in the file, and what replaces them. */
  edits: [text: string, instead: string][];
  /** The seed that found it last. `deno task sim --mutants` updates these. */
  seed?: number;
}

/** Number of seeds, from 1 on, within which every mutant must be found. */
export const MUTANT_SEEDS = 5_000;

/** The edits of each mutant, by file and name. */
const EDITS: Record<string, Record<string, Record<string, string>>> = {
  "src/eventstore_less/append/head_writer.ts": {
    "a commit does not check the head": {
      "store.commit({ checks, mutations })": "store.commit({ checks: [], mutations })",
    },
  },
  "src/eventstore_less/append/appender.ts": {
    "an unclear commit counts as landed if the head moved, without comparing the record": {
      "bytesEqual(entry?.value, firstLogRecord.value)": "true",
    },
    "a commit that landed is appended again": {
      "        this.#acknowledge(batch);": "        this.#requeue(batch);",
    },
    "commands are acknowledged before the commit": {
      "for (const { queued } of members) queued.mayHaveLanded = true;": "this.#acknowledge(batch);",
    },
    "the append deadline uses the wall clock": {
      "runtime.monotonicNow() + appendLimitMs": "runtime.now() + appendLimitMs",
      "const now = runtime.monotonicNow();\n      const keyOf":
        "const now = runtime.now();\n      const keyOf",
    },
    "a lost commit is not retried": {
      "this.#waiting.unshift(...members.map(({ queued }) => queued));": "",
    },
  },
  "src/eventstore_less/store/commit_until_known.ts": {
    "an unclear commit counts as lost without a read-back": {
      "if (versionstamp !== guarded.guard) {": 'if (true) {\n          return { state: "lost" };',
    },
  },
  "src/eventstore_less/append/command.ts": {
    "an unclear outcome is reported as nothing stored": { "if (this.mayHaveLanded)": "if (false)" },
  },
  "src/eventstore_less/append/batch.ts": {
    "a command is not prepared again after the head changed": {
      "await command.prepare(base)": "await ((command as any).prepared ??= command.prepare(base))",
    },
    "a pet is created after a key event within one commit": { "isClosed || bytes": "bytes" },
    "two changes of a pet are decided on the same state": {
      "decide(head, queued, preparations[index], lastOfSubject)":
        "decide(head, queued, preparations[index], undefined)",
    },
    "a request is refused by a change that no commit has stored": {
      "if (lastOfSubject !== undefined) deferred.push(queued);\n    else if": "if",
    },
    "two concurrent requests with one Idempotency-Key share a commit": {
      "idempotencyKeys.has(idempotencyKey)": "false",
    },
    "a settled command is still appended": { "    if (queued.isSettled) continue;\n": "" },
    "a command that produced no events on a stale head is not requeued": {
      "return queued.needsFreshHead && areRecordsKept;": "return true;",
    },
  },
  "src/eventstore_less/log/head.ts": {},
  "src/eventstore_less/log/head_reader.ts": {
    "a request joins a head read that is already in flight": {
      "    this.#next = undefined;\n": "",
      "return await reading;": "return await reading.finally(() => this.#next = undefined);",
    },
    "the head is cached and not read again": {
      "return this.#next ??= this.#readNext()":
        "return this.#latest ? Promise.resolve(this.#latest) : this.#next ??= this.#readNext()",
    },
    "data read from a removed generation is returned": {
      "- start <= HEAD_LIMIT_MS) return;": "- start < Infinity) return;",
    },
  },
  "src/keys/api_key_reader.ts": {
    "a read-only key may write": { "if (isReadOnly) throw": "if (false) throw" },
    "a cached key is used after key events": {
      "const isCurrent = cached?.generation === head.generation &&\n      cached.keyPosition === keyPositionOf(head);":
        "const isCurrent = cached !== undefined;",
    },
  },
  "src/keys/api_key.ts": {
    "an immediate revocation waits for the clock": { "if (isAtOnce) key.isRevoked = true;": "" },
  },
  "src/animals/pet_reader.ts": {
    "an instance follows its own commit although another one has changed a pet": {
      "const isNext = generation === next.generation && changePosition === changePositionOf(base.head);":
        "const isNext = generation === next.generation;",
    },
    "an instance does not follow its own removals": {
      "pets.delete(id);": "",
    },
    "a page is kept although the instance has changed a pet": {
      "{ ...newCaches(generation, changePositionOf(next)), pets }":
        "{ ...this.#caches, changePosition: changePositionOf(next) }",
    },
    "the cached newest page is used after pets were added": {
      '${newestOf(query, head)}/${petName ?? ""}': '${petName ?? ""}',
    },
    "a cached page below a cursor is used although the cursor was beyond the newest pet": {
      '${newestOf(query, head)}/${petName ?? ""}':
        '${(cursor ?? Infinity) < Infinity || lastPetIdOf(head)}/${petName ?? ""}',
    },
    "a pet beyond the head is read": {
      "if (id < 1 || id > lastPetIdOf(head)) return undefined;\n    return this.#caches":
        "return this.#caches",
    },
    "an instance does not follow the changes of others": {
      "generation === head.generation && changePosition < changePositionOf(head)": "false",
    },
    "a page that lost a pet stays cached": {
      "this.#caches = newCaches(head.generation, changePositionOf(head))":
        "this.#caches = { ...newCaches(head.generation, changePositionOf(head)), pages: this.#caches.pages }",
    },
    "a pet stays cached after a change": {
      "this.#caches = newCaches(head.generation, changePositionOf(head))":
        "this.#caches = { ...newCaches(head.generation, changePositionOf(head)), pets: this.#caches.pets }",
    },
    "pages of all categories share the cache": { "${categoryId}/": "" },
  },
  "src/animals/page_reader.ts": {
    "a pet that was removed after the head counts as lost": {
      "removals[index], newerHead": "removals[index], head",
    },
    "a page that was changed while it was read is not read again": {
      "!isNext || position > head.position": "!isNext",
    },
    "a page with gaps is of its head although pets were removed after it": {
      "if (hasNoChangeAfter(head, newerHead)) {\n      const pets": "if (true) {\n      const pets",
    },
    "a page is compared with the count of a later head": {
      "page: this.#wholePage(pets, query, head)": "page: this.#wholePage(pets, query, newerHead)",
    },
    "what is left of a list is not counted again after a change": {
      "`${generation}/${changePositionOf(head)}/": "`${generation}/",
    },
    "a page of some ids does not follow the changes while it is read": {
      "if (hasNoChangeAfter(head, newerHead)) {\n      return": "if (true) {\n      return",
    },
    "a page shows a pet that was removed while it is read": {
      'const isRemoved = type === "PetRemoved";': "const isRemoved = false;",
    },
    "a page with gaps that follows changes is of the head of its request": {
      "page: this.#wholePage(shown, query, newerHead)":
        "page: this.#wholePage(shown, query, { ...newerHead, position: head.position, lastHash: head.lastHash })",
    },
    "a page does not get the pets that enter it while it is read": {
      "newestFirst([...unchanged, ...entered]);\n    // After": "unchanged;\n    // After",
    },
    "a page that pets have left while it was read ends too early": {
      "if (isShort) return": "if (false) return",
    },
    "a page of all pets is read as if ids had no gaps": {
      "isDense = isOfAll(query) && !hasGaps(head)": "isDense = isOfAll(query)",
    },
    "a page of a category gets changed pets of other categories": {
      "return hasStatus && hasCategory;": "return hasStatus;",
    },
  },
  "src/animals/pet_locations.ts": {
    "a removed pet stays in its category": {
      'if (type === "PetRemoved") return undefined;': "",
    },
    "pages of a category show all statuses": {
      "status === undefined ? PET_LISTS": "true ? PET_LISTS",
    },
  },
  "src/eventstore_less/projections/column.ts": {
    "a block is stored without the events of its own commit": {
      "if (blockOf(number) === block) codes[": "if (false) codes[",
    },
    "a block that is changed again is not stored again": {
      "      this.#isChanged[stored] = false;\n": "",
    },
    "a block is stored without those that came last": {
      "const count = codes.findLastIndex((code) => code !== UNKNOWN) + 1;":
        "const count = codes.findLastIndex((code) => code !== UNKNOWN);",
    },
  },
  "src/eventstore_less/projections/column_reader.ts": {
    "a column does not follow the commits of other instances": {
      "this.#column !== undefined && position <= this.#column.position;":
        "this.#column !== undefined;",
    },
    "a column is read without the events after its blocks": {
      "Math.max(0, head.position - BLOCKS.storedAfter)": "head.position",
    },
  },
  "src/animals/page.ts": {
    "a page starts with the pet of its cursor": { "(cursor - 1, last": "(cursor, last" },
    "a page that does not show all pets of a category counts those that it shows": {
      "isWhole && !isCountedByHead(query) ?": "!isCountedByHead(query) ?",
    },
    "a page does not stop at the newest pet of its head": {
      "(cursor - 1, lastPetIdOf(head))": "(cursor - 1, Number.MAX_SAFE_INTEGER - 1)",
    },
  },
  "src/eventstore_less/feed/event_feed.ts": {
    "the id of an event is not checked against the hash of the line": {
      "if (logId !== clientId) throw": "if (false) throw",
    },
  },
  "src/animals/pet_operations.ts": {
    "a list names the head of its request although the page is later": {
      "headOf(page, entry)": "entry.head",
    },
    "a cached page counts the pets of the head at which it was read": {
      "totalOf(query, page, head)": "totalOf(query, page, page.head)",
    },
  },
  "src/http/events.ts": {
    "a stream sends the position of an event before the event": {
      "if (passedId === undefined) return Buffer.concat(texts);":
        "texts = texts.flatMap((it) => [it.subarray(0, it.indexOf(10)), encoder.encode('\\n\\n'), it]);\n" +
        "  if (passedId === undefined) return Buffer.concat(texts);",
    },
    "the next request of a batch begins at the head": {
      "queryAfter(cursor.place.id, query)": "queryAfter(feedPositionOf(entry.head).id, query)",
    },
    "a stream misses events between its request and its first look at the head": {
      "isWokenBy: (look) => cursor.isBehind(look) || isQuiet(),": "isWokenBy: (look) => {\n" +
        "      if (!(cursor as any).hasLooked) cursor.place = feedPositionOf(look.head);\n" +
        "      (cursor as any).hasLooked = true;\n" +
        "      return cursor.isBehind(look) || isQuiet();\n" +
        "    },",
    },
    "a stream does not pass the position of events that its filter leaves out": {
      "return Buffer.concat([...texts, position]);": "return Buffer.concat(texts);",
    },
    "a wait does not notice the events that come during it": {
      "isWokenBy: (look) => cursor.isBehind(look),": "isWokenBy: () => false,",
      "isWokenBy: (look) => cursor.isBehind(look) || isQuiet(),": "isWokenBy: () => isQuiet(),",
    },
  },
  "src/eventstore_less/feed/followers.ts": {
    "streams and waits of a revoked key go on": {
      "if (!(error instanceof StoreError)) this.#end(token, error);\n      return;": "",
    },
    "a commit during a look at the head does not make the next look be soon": {
      "const entry = await heads.read().catch(() => undefined);":
        "const entry = await heads.read().catch(() => undefined);\n      (this as any).#alarm = new Alarm();",
    },
  },
  "src/animals/write_pet.ts": {
    "an Idempotency-Key is not looked up again after the head changed": {
      "const earlier = await findEarlierEvent(":
        "const { looked } = inputs as any;\n  (inputs as any).looked = true;\n  const earlier = looked ? undefined : await findEarlierEvent(",
    },
    "a write is authorized by the clock alone, which may have been set back": {
      "Math.max(runtime.now(), eventTimeMs)": "runtime.now()",
    },
    "a duplicate response is given for a different request": {
      "if (rule.isOutcome(earlier)) return;": "return;",
    },
    "a pet is not read again after the head changed": {
      "await pets.getProven(petId, base)":
        "await ((inputs as any).read ??= pets.getProven(petId, base))",
    },
    "a condition is not checked": { "isExpected(encodePet(before.pet))": "true" },
    "a line names no predecessor": {
      "previous }, predecessor: position": "previous }",
      "data: pet, predecessor: position": "data: pet",
    },
    "a repeated removal is taken for one of another pet": {
      'type === "PetRemoved" && data.id === petId': 'type === "PetRemoved"',
    },
    "a repeated removal is not found": {
      "if (earlier !== undefined) return [];":
        "if (earlier !== undefined && rule.petId === undefined) return [];",
    },
  },
  "src/eventstore_less/projections/project.ts": {
    "an Idempotency-Key is not recorded": {
      "if (event.idempotencyKey !== undefined) records.push(idempotencyRecordOf(event));": "",
    },
    "the Idempotency-Key of a removal is not recorded": {
      "if (event.idempotencyKey !== undefined) records":
        'if (event.idempotencyKey !== undefined && event.type !== "PetRemoved") records',
    },
  },
  "src/animals/pets.ts": {
    "a pet that was sold still counts under its former status": {
      "return [[petListOf(previous.status), -1], [petListOf(status), 1]];":
        "return [[petListOf(status), 1]];",
    },
    "a removed pet still counts": {
      "tally: ({ status }) => [[petListOf(status), -1]],": "tally: () => [],",
    },
    "a removed pet comes back": {
      "return [{ key: petKey(petListOf(data.status), data.id) }, removal];": "return [removal];",
    },
    "a removed pet leaves no record": {
      "data.id) }, removal];": "data.id) }];",
    },
    "a changed pet stays in the list of its former status": {
      "return [{ key: petKey(petListOf(status), data.id) }, written];": "return [written];",
    },
  },
  "src/animals/pet_counts.ts": {
    "a removal does not outdate what instances have cached": {
      'type !== "PetCreated"': 'type === "PetUpdated"',
    },
  },
  "src/animals/pet_history.ts": {
    "the verifier accepts events of a removed pet": {
      "return [`it ${does} pet ${id}, which was removed before`];": "return [];",
    },
  },
  "src/keys/key_position.ts": {
    "a revocation does not move the key position of the head": {
      "types.ApiKeyRevoked?.last ?? 0);": "0);",
    },
  },
  "src/eventstore_less/idempotency/earlier_event.ts": {
    "an Idempotency-Key never expires": {
      "if (entry === undefined || Date.parse(decodeRecord(entry).expiresAt) <= timeMs)":
        "if (entry === undefined)",
    },
  },
  "src/eventstore_less/store/commit_size.ts": {
    "a commit takes items beyond its limits": { "if (fill <= 1 || count === 1)": "if (true)" },
  },
  "src/eventstore_less/keyspace.ts": {
    "idempotency records are removed without a margin for wrong clocks": {
      "RETENTION_MARGIN_MS = 60 * 60 * 1_000": "RETENTION_MARGIN_MS = 0",
    },
  },
  "src/eventstore_less/idempotency/idempotency_key_sweep.ts": {
    "the sweep follows the wall clock alone": {
      "const time = await logTime(store, runtime, position);":
        "void [logTime, position];\n    const time = runtime.now();",
    },
    "the sweep trusts a clock that has jumped": {
      "if (Math.abs(movedMs) <= CLOCK_JUMP_MS) return;":
        "void [movedMs, CLOCK_JUMP_MS];\n    if (true) return;",
    },
  },
  "src/eventstore_less/store/store_errors.ts": {
    "an unclear commit counts as not applied": {
      "return !(error instanceof StoreError) || error instanceof UnclearOutcomeError;":
        "return !(error instanceof StoreError);",
    },
  },
  "src/eventstore_less/store/resilience/circuit_breaker.ts": {
    "a store that was unavailable stays unavailable": { '      this.#state = "closed";\n': "" },
    "a store call has no time limit": { "CALL_LIMIT_MS = 2_000": "CALL_LIMIT_MS = 20_000" },
  },
  "scripts/replay/replay.ts": {
    "a generation is served before it is filled": {
      "const differences = await compare(job, resumedFrom > 0);":
        "await changeHead(job, (head) => ({ ...head, generation, removing: head.generation }));\n" +
        "    const differences = await compare(job, resumedFrom > 0);",
    },
    "a replay does not fill in earlier events": { "event.position > filledTo)": "false)" },
    "a replay counts events before the commit of their records": {
      "return job.lease.commit({ mutations }, filling);":
        "return job.lease.commit({}, filling).then(() => job.lease.commit({ mutations }));",
    },
    "a replay applies the changes of a commit in another order": {
      "retainedRecords(project(lines), time)": "retainedRecords(project(lines.toReversed()), time)",
    },
    "a replay serves a generation without the last events": {
      "for await (const read of log.readTo(store, head.position)) lines.push(...read);":
        "void head;",
    },
    "a replay overwrites a head that has moved": {
      "const checks = [{ key: HEAD_KEY, versionstamp }];": "const checks: [] = [];",
    },
    "the old generation is removed without a grace period": {
      "GRACE_MS = HEAD_LIMIT_MS + 1_000": "GRACE_MS = 0",
    },
    "the old generation is not removed": { "  await remove(job, removing);\n": "" },
  },
  "scripts/guarded/guarded_record.ts": {
    "a replay writes without checking its lease": {
      "checks: [{ key, versionstamp: guard }, ...checks]": "checks",
    },
  },
  "scripts/restore/restore.ts": {
    "a restore counts lines before the commit of their records": {
      "await replaceMark({ ...mark, restored }, mutations);":
        "await replaceMark({ ...mark, restored });\n" +
        "    await replaceMark({ ...mark, restored }, mutations);",
    },
    "a resumed restore skips a line": {
      "lastHash === head.lastHash) return restored;":
        "lastHash === head.lastHash) return restored + 1;",
    },
  },
  "src/eventstore_less/log/read_log.ts": {
    "a log read from within a record begins with the record": {
      "position >= next && position <= to)": "position <= to)",
    },
  },
  "scripts/verify/log_verifier.ts": {},
  "scripts/verify/compare.ts": {
    "an audit takes changes during the audit for differences": {
      "if (record !== undefined) this.#laterKeys.add(formatKey(record.key));": "void record;",
    },
  },
  "src/life_cycle/shut_down.ts": {
    "a shutdown does not wait for the outcomes of commands": {
      "  await Promise.race([drained, sleep(runtime, SHUTDOWN_MS.close - SHUTDOWN_MS.drain)]);\n":
        "",
    },
  },
};

export const MUTANTS: Mutant[] = Object.entries(EDITS).flatMap(([file, mutants]) =>
  Object.entries(mutants).map(([name, edits]) => {
    return {
      name,
      file,
      edits: Object.entries(edits),
      seed: (SEEDS as Record<string, number>)[name],
    };
  })
);
