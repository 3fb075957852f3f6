/** Deliberate faults in the code. The simulator must find each of them. */

export interface Mutant {
  name: string;
  /** Path within the repository. */
  file: string;
  /** Replacements. Each text must occur exactly once in the file. */
  edits: [text: string, instead: string][];
  /** Whether only few seeds find it. Then only `deno task sim --mutants` searches for it. */
  isRare?: true;
}

/** Number of seeds, from 1 on, within which every mutant must be found. */
export const MUTANT_SEEDS = 5_000;

const APPENDER = "src/append/appender.ts";
const BATCH = "src/append/batch.ts";
const COMMIT_SIZE = "src/store/commit_size.ts";
const READ_LOG = "src/log/read_log.ts";
const PACK_LINES = "src/encoding/pack_lines.ts";
const HEAD_READER = "src/log/head_reader.ts";
const API_KEYS = "src/log/api_keys.ts";
const KEY_READER = "src/projections/api_key_reader.ts";
const PET_READER = "src/projections/pet_reader.ts";
const PROJECT = "src/projections/project.ts";
const CIRCUIT_BREAKER = "src/store/resilience/circuit_breaker.ts";
const RESILIENT_STORE = "src/store/resilience/resilient_store.ts";
const CREATE_PET = "src/commands/create_pet.ts";
const REPLAY = "scripts/replay/replay.ts";
const RESTORE = "scripts/restore/restore.ts";
const REPLAY_LEASE = "scripts/replay/replay_lease.ts";

export const MUTANTS: Mutant[] = [
  {
    name: "a commit does not check the head",
    file: APPENDER,
    edits: [["commit({ checks, mutations })", "commit({ checks: [], mutations })"]],
  },
  {
    name: "an unclear commit counts as lost without a read-back",
    file: "src/store/commit_until_known.ts",
    edits: [[
      "if (versionstamp !== guarded.guard) {",
      'if (true) {\n          return { state: "lost" };',
    ]],
  },
  {
    name: "an unclear commit counts as landed if the head moved, without comparing the record",
    file: APPENDER,
    edits: [["bytesEqual(entry?.value, firstLogRecord.value)", "true"]],
  },
  {
    name: "a commit that landed is appended again",
    file: APPENDER,
    edits: [[
      'case "landed":\n        return this.#acknowledge(batch);',
      'case "landed":\n        return this.#requeue(batch);',
    ]],
  },
  {
    name: "commands are acknowledged before the commit",
    file: APPENDER,
    edits: [[
      "for (const { queued } of members) queued.mayHaveLanded = true;",
      "this.#acknowledge(batch);",
    ]],
  },
  {
    name: "an unclear outcome is reported as nothing stored",
    file: "src/append/command_queue.ts",
    edits: [["this.mayHaveLanded\n", "false\n"]],
  },
  {
    name: "the append deadline uses the wall clock",
    isRare: true,
    file: APPENDER,
    edits: [
      ["runtime.monotonicNow() + this.#limitMs", "runtime.now() + this.#limitMs"],
      ["rejectOverdue(runtime.monotonicNow(),", "rejectOverdue(runtime.now(),"],
    ],
  },
  {
    name: "a command is not prepared again after the head changed",
    file: BATCH,
    edits: [[
      "const { command, context } = queued;\n",
      "const { command, context } = queued;\n" +
      "      if ((queued as any).prepared) continue;\n" +
      "      (queued as any).prepared = true;\n",
    ]],
  },
  {
    name: "a pet is created after a key event within one commit",
    isRare: true,
    file: BATCH,
    edits: [["next.keyPosition !== base.head.keyPosition || bytes", "bytes"]],
  },
  {
    name: "a settled command is still appended",
    file: BATCH,
    edits: [["      if (queued.isSettled) continue;\n", ""]],
  },
  {
    name: "a revocation does not move the key position of the head",
    file: BATCH,
    edits: [[
      'case "ApiKeyIssued":\n    case "ApiKeyRevoked":\n      next',
      'case "ApiKeyRevoked":\n      return next;\n    case "ApiKeyIssued":\n      next',
    ]],
  },
  {
    name: "a lost commit is not retried",
    file: APPENDER,
    edits: [["this.#queue.putFirst(members.map(({ queued }) => queued));", ""]],
  },
  {
    name: "a request joins a head read that is already in flight",
    isRare: true,
    file: HEAD_READER,
    edits: [
      ["    this.#next = undefined;\n", ""],
      ["return await reading;", "return await reading.finally(() => this.#next = undefined);"],
    ],
  },
  {
    name: "the head is cached and not read again",
    file: HEAD_READER,
    edits: [[
      "() => this.#next ??= this.#readNext()",
      "() => this.#latest === undefined ? this.#next ??= this.#readNext() : Promise.resolve(this.#latest)",
    ]],
  },
  {
    name: "a cached key is used after key events",
    file: KEY_READER,
    edits: [[
      "keyPosition === head.keyPosition && generation === head.generation",
      "true",
    ]],
  },
  {
    name: "a clock that is set back extends the validity of a cached key",
    isRare: true,
    file: KEY_READER,
    edits: [["this.#runtime.monotonicNow() < endsAtMonotonicMs", "true"]],
  },
  {
    name: "the latest of several scheduled revocations applies",
    file: API_KEYS,
    edits: [["Math.min(key.revokedAt ?? Infinity,", "Math.max(key.revokedAt ?? 0,"]],
  },
  {
    name: "a wrong clock does not excuse a missing idempotency record",
    file: "scripts/audit/missing_idempotency_records.ts",
    edits: [
      ["timeMs > nowMs + CLOCK_TOLERANCE_MS", "false"],
      ["if (this.#latestMinute <= from) return;", "return;"],
    ],
  },
  {
    name: "a head at an earlier position than a known head is accepted",
    file: HEAD_READER,
    edits: [["if (head.position < position)", "if (false)"]],
  },
  {
    name: "a head of an earlier version than a known head is accepted",
    file: HEAD_READER,
    edits: [["if (versionstamp < known.versionstamp!)", "if (false)"]],
  },
  {
    name: "an immediate revocation waits for the clock",
    file: API_KEYS,
    edits: [["if (isAtOnce) key.isRevoked = true;", ""]],
  },
  {
    name: "the cached newest page is used after pets were added",
    file: PET_READER,
    edits: [["cached.lastPetId === head.lastPetId);", "true);"]],
  },
  {
    name: "a cached page below a cursor is used although the cursor was beyond the newest pet",
    isRare: true,
    file: PET_READER,
    edits: [["query.cursor <= cached.lastPetId + 1", "true"]],
  },
  {
    name: "a pet beyond the head is read",
    file: PET_READER,
    edits: [["if (id < 1 || id > head.lastPetId) return undefined;", ""]],
  },
  {
    name: "a page starts with the pet of its cursor",
    file: PET_READER,
    edits: [["(cursor ?? Infinity) - 1)", "cursor ?? Infinity)"]],
  },
  {
    name: "a pet is found only under its own id, not in the record of a later one",
    file: PET_READER,
    edits: [[
      "this.#store.list({ start: keyOf(newest), end: keyOf(LAST_ID) }, { limit: 1 }),",
      "this.#store.list({ start: keyOf(newest), end: keyOf(newest + 1) }, { limit: 1 }),",
    ]],
  },
  {
    name: "a page of a status misses pets in the record that holds the cursor",
    file: PET_READER,
    edits: [["const [newest] = before <= lastPetId\n", "const [newest] = false\n"]],
  },
  {
    name: "a page of a status shows pets after the cursor from the record that holds it",
    file: PET_READER,
    edits: [["if (id < before) pets.push", "pets.push"]],
  },
  {
    name: "a record of pets is served although it does not end with the pet of its key",
    file: PET_READER,
    edits: [["|| pets?.at(-1)?.id !== lastId", ""]],
  },
  {
    name: "a record of pets is served although it overlaps another",
    file: PET_READER,
    edits: [["if (texts[id - oldest] !== undefined) throw damaged(id);", ""]],
  },
  {
    name: "a record by status is served although a pet has another status",
    file: PET_READER,
    edits: [["if (!hasStatus(text, status)) throw damaged(id);", ""]],
  },
  {
    name: "an Idempotency-Key never expires",
    isRare: true,
    file: PET_READER,
    edits: [["return Date.parse(expiresAt) > now ? petId : undefined;", "return petId;"]],
  },
  {
    name: "an Idempotency-Key is not looked up again after the head changed",
    file: CREATE_PET,
    edits: [[
      "    return this.#deps.pets.findByIdempotencyKey(",
      "    if ((this as any).looked) return;\n    (this as any).looked = true;\n    return this.#deps.pets.findByIdempotencyKey(",
    ]],
  },
  {
    name: "a create is authorized by the clock alone, which may have been set back",
    isRare: true,
    file: CREATE_PET,
    edits: [["Math.max(runtime.now(), this.#eventTimeMs)", "runtime.now()"]],
  },
  {
    name: "two concurrent requests with one Idempotency-Key share a commit",
    file: CREATE_PET,
    edits: [[
      "await deps.creations.share(`${token} ${idempotencyKey}`, append)",
      "await append()",
    ]],
  },
  {
    name: "a read-only key may add pets",
    file: CREATE_PET,
    edits: [["if (!key.isReadOnly) return;", "return;"]],
  },
  {
    name: "a duplicate response is given to a revoked key",
    isRare: true,
    file: CREATE_PET,
    edits: [["    await keys.authorize(token, head, runtime.now());\n", ""]],
  },
  {
    name: "a duplicate response is given for a different pet",
    file: CREATE_PET,
    edits: [["if (earlier === encodePet(pet)) return;", "return;"]],
  },
  {
    name: "pets without a status are put into the status index",
    file: PROJECT,
    edits: [[
      "if (status !== undefined) textsOf(petsByStatus, status)",
      'textsOf(petsByStatus, status ?? "available")',
    ]],
  },
  {
    name: "a record of pets is stored under its first id",
    file: PROJECT,
    edits: [["keyOf(this.#ids[end - 1])", "keyOf(this.#ids[end - count])"]],
  },
  {
    name: "a log record is stored under its first position",
    file: READ_LOG,
    edits: [["key: logKey(last)", "key: logKey(last - count + 1)"]],
  },
  {
    name: "a line at the limit of packed lines is lost",
    file: PACK_LINES,
    edits: [["first = index;\n      bytes = 0;", "first = index + 1;\n      bytes = -length;"]],
  },
  {
    name: "a value of packed lines may exceed its limit by some bytes",
    file: PACK_LINES,
    edits: [["bytes + length > limit", "bytes + length > limit + 40"]],
  },
  {
    name: "a commit takes items beyond its limits",
    file: COMMIT_SIZE,
    edits: [["if (fill <= 1 || count === 1)", "if (true)"]],
  },
  {
    name: "the size of a commit does not count its keys",
    file: COMMIT_SIZE,
    edits: [["    keys += keyBytes(mutation.key);\n", ""]],
  },
  {
    name: "an Idempotency-Key is not recorded",
    file: PROJECT,
    edits: [["if (event.idempotencyKey !== undefined) {", "if (false) {"]],
  },
  {
    name: "idempotency records expire without a margin for wrong clocks",
    isRare: true,
    file: "src/keyspace.ts",
    edits: [["RETENTION_MARGIN_MS = 60 * 60 * 1_000", "RETENTION_MARGIN_MS = 0"]],
  },
  {
    name: "an instance that only meets locks does not connect to its store again",
    file: RESILIENT_STORE,
    edits: [["if (error instanceof NotAppliedError) {", "if (false) {"]],
  },
  {
    name: "a store call has no time limit",
    file: RESILIENT_STORE,
    edits: [["STORE_CALL_LIMIT_MS = 2_000", "STORE_CALL_LIMIT_MS = 2_000_000"]],
  },
  {
    name: "an unclear commit counts as not applied",
    file: "src/store/store_errors.ts",
    edits: [[
      "return !(error instanceof StoreError) || error instanceof UnclearOutcomeError;",
      "return !(error instanceof StoreError);",
    ]],
  },
  {
    name: "a store that was unavailable stays unavailable",
    file: CIRCUIT_BREAKER,
    edits: [['      this.#enter("closed");\n', ""]],
  },
  {
    name: "an update of the cached newest pets of a status misses one",
    file: PET_READER,
    edits: [["const first = known.lastPetId + 1;", "const first = known.lastPetId + 2;"]],
  },
  {
    name: "a command that produced no events on a stale head is not requeued",
    file: BATCH,
    edits: [["if (queued.wasRepeated && isBaseFresh) return settle();", "return settle();"]],
  },
  {
    name: "events are projected into only one generation during a replay",
    file: BATCH,
    edits: [[
      "writtenGenerations(base.head).flatMap(",
      "writtenGenerations(base.head).slice(0, 1).flatMap(",
    ]],
  },
  {
    name: "a generation is served before it is filled",
    file: REPLAY,
    edits: [[
      "const differences = await this.#fill(old, generation, until);",
      "await this.#flip(old, generation);\n" +
      "      const differences = await this.#fill(old, generation, until);",
    ]],
  },
  {
    name: "a replay does not fill in earlier events",
    file: REPLAY,
    edits: [[
      "building: { generation, until: head.position }",
      "building: { generation, until: 0 }",
    ]],
  },
  {
    name: "a replay counts events before the commit of their records",
    file: REPLAY,
    edits: [[
      "filling = this.#lease.commit({ checks: [], mutations }, filledTo).then(() => {",
      "await this.#lease.commit({ checks: [], mutations: [] }, filledTo);\n" +
      "        filling = this.#lease.commit({ checks: [], mutations }).then(() => {",
    ]],
  },
  {
    name: "a replay begins where the replay of the generation before ended",
    file: REPLAY,
    edits: [["    this.#lease.filledTo = 0;\n", ""]],
  },
  {
    name: "a resumed replay begins with the last event of the run before",
    file: REPLAY,
    edits: [["event.position > start)", "event.position >= start)"]],
  },
  {
    name: "a replay overwrites a head that has moved",
    isRare: true,
    file: REPLAY,
    edits: [["const checks = [{ key: HEAD_KEY, versionstamp }];", "const checks: [] = [];"]],
  },
  {
    name: "the old generation is removed without a grace period",
    isRare: true,
    file: REPLAY,
    edits: [["GRACE_MS = 10_000", "GRACE_MS = 0"]],
  },
  {
    name: "the old generation is not removed",
    file: REPLAY,
    edits: [["    await this.#remove(removing);\n", ""]],
  },
  {
    name: "a replay writes without checking its lease",
    isRare: true,
    file: REPLAY_LEASE,
    edits: [["checks: [{ key: REPLAY_KEY, versionstamp: guard }, ...checks]", "checks"]],
  },
  {
    name: "a restore counts lines before the commit of their records",
    file: RESTORE,
    edits: [[
      "await this.#replaceMark(encodeHead(mark), mutations);",
      "await this.#replaceMark(encodeHead(mark));\n" +
      "    await this.#replaceMark(encodeHead(mark), mutations);",
    ]],
  },
  {
    name: "a resumed restore skips a line",
    file: RESTORE,
    edits: [[
      "mark.lastHash === lastHash) return mark.restored;",
      "mark.lastHash === lastHash) return mark.restored + 1;",
    ]],
  },
  {
    name: "a log read from within a record begins with the record",
    file: READ_LOG,
    edits: [["position >= next && position <= to)", "position <= to)"]],
  },
  {
    name: "a comparison skips the rest of a record that holds later pets, too",
    file: "scripts/audit/packed_comparison.ts",
    edits: [["if (id > lastId) return;", "if (id > lastId) return void stored.skipThrough(1e9);"]],
  },
  {
    name: "followLog() yields the last line again",
    file: "src/log/follow_log.ts",
    edits: [["next = batch.at(-1)!.position + 1;", "next = batch.at(-1)!.position;"]],
  },
  {
    name: "data read from a removed generation is returned",
    isRare: true,
    file: HEAD_READER,
    edits: [["HEAD_LIMIT_MS = 9_000", "HEAD_LIMIT_MS = 9_000_000"]],
  },
  {
    name: "a shutdown does not wait for the outcomes of commands",
    file: "src/life_cycle/shut_down.ts",
    edits: [[
      "  await Promise.race([drained, sleep(runtime, SHUTDOWN_MS.close - SHUTDOWN_MS.drain)]);\n",
      "",
    ]],
  },
];
