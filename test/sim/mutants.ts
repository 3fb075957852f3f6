/** Faults put into the code on purpose. The simulator must find each of them. */

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
const HEAD_READER = "src/log/head_reader.ts";
const KEY_READER = "src/projections/key_reader.ts";
const PET_READER = "src/projections/pet_reader.ts";
const PROJECT = "src/projections/project.ts";
const BOUNDED_STORE = "src/store/bounded_store.ts";
const CREATE_PET = "src/commands/create_pet.ts";
const REPLAY = "src/maintenance/replay.ts";
const REPLAY_LEASE = "src/maintenance/replay_lease.ts";

export const MUTANTS: Mutant[] = [
  {
    name: "the head is not checked",
    file: APPENDER,
    edits: [["[{ key: HEAD_KEY, versionstamp: base.versionstamp }];", "[];"]],
  },
  {
    name: "what was not confirmed counts as lost, without reading back",
    file: APPENDER,
    edits: [[
      "switch (await this.#outcomeOf(attempt)) {",
      'switch (await heads.read().then(() => "lost")) {',
    ]],
  },
  {
    name: "a head that moved counts as landed, without comparing the line",
    file: APPENDER,
    edits: [["bytesEqual(entry?.value, lines[0])", "true"]],
  },
  {
    name: "what landed is appended again",
    file: APPENDER,
    edits: [[
      'case "landed":\n            this.#acknowledge(attempt);',
      'case "landed":\n            this.#waitAgain(attempt);',
    ]],
  },
  {
    name: "what was lost is acknowledged",
    file: APPENDER,
    edits: [['case "lost":', 'case "lost":\n            this.#acknowledge(attempt);']],
  },
  {
    name: "commands are acknowledged before the commit",
    file: APPENDER,
    edits: [[
      "for (const { pending } of attempt.members) pending.unclear = true;",
      "this.#acknowledge(attempt);",
    ]],
  },
  {
    name: "an unclear outcome is answered as nothing stored",
    file: APPENDER,
    edits: [["return unclear\n", "return false\n"]],
  },
  {
    name: "an attempt that was given up counts as clear",
    file: APPENDER,
    edits: [[
      "for (const { pending } of attempt.members) pending.unclear = true;",
      "",
    ]],
  },
  {
    name: "the deadline of additions is looked at too late",
    isRare: true,
    file: APPENDER,
    edits: [["const SWEEP_MS = 50;", "const SWEEP_MS = 20_000;"]],
  },
  {
    name: "the deadline of additions is kept on the clock of the day",
    isRare: true,
    file: APPENDER,
    edits: [
      ["runtime.monotonicNow() + this.#limitMs", "runtime.now() + this.#limitMs"],
      ["const now = this.#parts.runtime.monotonicNow();", "const now = this.#parts.runtime.now();"],
    ],
  },
  {
    name: "what a command rests on is not looked at again on another head",
    file: APPENDER,
    edits: [["pending.preparedEpoch === this.#headEpoch", "pending.preparedEpoch !== -1"]],
  },
  {
    name: "what was made ahead is taken for any head",
    file: APPENDER,
    edits: [["if (plan?.head === head) return plan;", "if (plan !== undefined) return plan;"]],
  },
  {
    name: "an event of a key does not end a run of heads",
    isRare: true,
    file: APPENDER,
    edits: [["if (!keysMoved) this.#epochHead", "this.#epochHead"]],
  },
  {
    name: "a creation goes into one commit after an event of a key",
    isRare: true,
    file: APPENDER,
    edits: [["(size.exceedsLimits || keysMoved)", "size.exceedsLimits"]],
  },
  {
    name: "a command that was refused is appended all the same",
    file: APPENDER,
    edits: [
      [".filter((pending) => !pending.settled);", ";"],
      ["      if (pending.settled) continue;\n", ""],
    ],
  },
  {
    name: "a revocation does not move the head's position of keys",
    file: APPENDER,
    edits: [[
      'case "ApiKeyIssued":\n    case "ApiKeyRevoked":\n      next',
      'case "ApiKeyRevoked":\n      return next;\n    case "ApiKeyIssued":\n      next',
    ]],
  },
  {
    name: "a lost commit is not tried again",
    file: APPENDER,
    edits: [[
      "this.#waiting.unshift(...members.map(({ pending }) => pending));",
      "",
    ]],
  },
  {
    name: "a read of the head is joined that is under way already",
    isRare: true,
    file: HEAD_READER,
    edits: [
      ["    this.#next = undefined;\n", ""],
      ["return await reading;", "return await reading.finally(() => this.#next = undefined);"],
    ],
  },
  {
    name: "the head is remembered",
    file: HEAD_READER,
    edits: [[
      "() => this.#next ??= this.#readNext()",
      "() => this.#latest === undefined ? this.#next ??= this.#readNext() : Promise.resolve(this.#latest)",
    ]],
  },
  {
    name: "a key is remembered whatever happens to keys",
    file: KEY_READER,
    edits: [[
      "keyPosition === head.keyPosition && generation === head.generation",
      "true",
    ]],
  },
  {
    name: "a remembered key does not expire",
    file: KEY_READER,
    edits: [[
      'onCacheRead("keys", "hit");\n      return this.#alive(cached, now);',
      'onCacheRead("keys", "hit");\n      return cached.key;',
    ]],
  },
  {
    name: "a clock that is set back prolongs a cached key",
    isRare: true,
    file: KEY_READER,
    edits: [["this.#runtime.monotonicNow() < endsAtMonotonicMs", "true"]],
  },
  {
    name: "the latest of several revocations ahead counts",
    file: KEY_READER,
    edits: [["Math.min(key.revokedAt ?? Infinity,", "Math.max(key.revokedAt ?? 0,"]],
  },
  {
    name: "a clock that was wrong is no reason why an idempotency record is missing",
    file: "src/maintenance/missing_idempotency_records.ts",
    edits: [
      ["timeMs > nowMs + CLOCK_TOLERANCE_MS", "false"],
      ["if (this.#latestMinute <= from) return;", "return;"],
    ],
  },
  {
    name: "a head that is missing is that of an empty log",
    file: HEAD_READER,
    edits: [[
      "    this.#expectToFollow(read, known);\n    this.advance(read);",
      "    this.advance(read);",
    ]],
  },
  {
    name: "a head may be older than one that was seen",
    file: HEAD_READER,
    edits: [["head.position < position || versionstamp < known.versionstamp!", "false"]],
  },
  {
    name: "a key revoked at once stands until the clock says so",
    file: KEY_READER,
    edits: [["if (record.isAtOnce) key.isRevoked = true;", ""]],
  },
  {
    name: "the newest page is remembered whatever was added",
    file: PET_READER,
    edits: [["cached.lastPetId === head.lastPetId);", "true);"]],
  },
  {
    name: "a page below a cursor is remembered although it was not full",
    isRare: true,
    file: PET_READER,
    edits: [["query.cursor <= cached.lastPetId + 1", "true"]],
  },
  {
    name: "a pet beyond the head is looked for",
    file: PET_READER,
    edits: [["if (id < 1 || id > head.lastPetId) return undefined;", ""]],
  },
  {
    name: "a page begins at the pet of its cursor",
    file: PET_READER,
    edits: [["(cursor ?? Infinity) - 1)", "cursor ?? Infinity)"]],
  },
  {
    name: "an Idempotency-Key is remembered for ever",
    isRare: true,
    file: PET_READER,
    edits: [["return Date.parse(expiresAt) > now ? petId : undefined;", "return petId;"]],
  },
  {
    name: "an Idempotency-Key is looked up once, and not again on another head",
    file: CREATE_PET,
    edits: [[
      "    return this.#parts.pets.findByIdempotencyKey(",
      "    if ((this as any).looked) return;\n    (this as any).looked = true;\n    return this.#parts.pets.findByIdempotencyKey(",
    ]],
  },
  {
    name: "an addition is authorized by the clock alone, which may have been set back",
    isRare: true,
    file: CREATE_PET,
    edits: [["Math.max(runtime.now(), this.#eventTimeMs)", "host.now()"]],
  },
  {
    name: "two at once with one Idempotency-Key go into one commit",
    file: CREATE_PET,
    edits: [[
      "await parts.creations.share(`${token} ${idempotencyKey}`, append)",
      "await append()",
    ]],
  },
  {
    name: "a repeated answer is given to whom the key was taken from",
    isRare: true,
    file: CREATE_PET,
    edits: [["    await keys.authorize(token, head, runtime.now());\n", ""]],
  },
  {
    name: "a repeated answer is given for another animal",
    file: CREATE_PET,
    edits: [["if (earlier?.text === encodePet(pet)) return;", "return;"]],
  },
  {
    name: "a request is let in on the head that is known",
    file: HEAD_READER,
    edits: [[
      "(await this.fresh()).head",
      "(this.#latest ?? await this.fresh()).head",
    ]],
  },
  {
    name: "pets are in the list of a status under no status",
    file: PROJECT,
    edits: [["if (status !== undefined) records.push(", "records.push("]],
  },
  {
    name: "an Idempotency-Key is not recorded",
    file: PROJECT,
    edits: [["if (event.idempotencyKey !== undefined) {", "if (false) {"]],
  },
  {
    name: "the store's clock decides how long an Idempotency-Key is remembered",
    isRare: true,
    file: "src/keyspace.ts",
    edits: [["RETENTION_MARGIN_MS = 60 * 60 * 1_000", "RETENTION_MARGIN_MS = 0"]],
  },
  {
    name: "a call of the store has no limit of time",
    file: BOUNDED_STORE,
    edits: [["STORE_CALL_LIMIT_MS = 2_000", "STORE_CALL_LIMIT_MS = 2_000_000"]],
  },
  {
    name: "a commit that hung counts as never made",
    file: BOUNDED_STORE,
    edits: [["isMade ? new ServiceError", "false ? new ServiceError"]],
  },
  {
    name: "a store that was away stays away",
    file: BOUNDED_STORE,
    edits: [['    this.#state = "answering";\n', ""]],
  },
  {
    name: "the newest of a status miss one when they are brought up to date",
    file: PET_READER,
    edits: [["const first = known.lastPetId + 1;", "const first = known.lastPetId + 2;"]],
  },
  {
    name: "a command that comes to nothing on an old head is not looked at again",
    file: APPENDER,
    edits: [["if (pending.wasRequeued && isBaseInTime) return false;", "return false;"]],
  },
  {
    name: "events are projected into one generation only while another is built",
    file: APPENDER,
    edits: [[
      "for (const generation of generations) {",
      "for (const generation of generations.slice(0, 1)) {",
    ]],
  },
  {
    name: "a generation is served before it is filled",
    file: REPLAY,
    edits: [[
      "await this.#fill(generation, until);",
      "await this.#flip(old, generation);\n      await this.#fill(generation, until);",
    ]],
  },
  {
    name: "a replay fills in nothing of what was before",
    file: REPLAY,
    edits: [[
      "building: { generation, until: head.position }",
      "building: { generation, until: 0 }",
    ]],
  },
  {
    name: "a replay changes a head that others have moved",
    isRare: true,
    file: REPLAY,
    edits: [["const checks = [{ key: HEAD_KEY, versionstamp }];", "const checks: [] = [];"]],
  },
  {
    name: "the old generation is removed under its readers",
    isRare: true,
    file: REPLAY,
    edits: [["GRACE_MS = 10_000", "GRACE_MS = 0"]],
  },
  {
    name: "the old generation is left where it was",
    file: REPLAY,
    edits: [["    await this.#remove(removing);\n", ""]],
  },
  {
    name: "a replay writes without its lease",
    isRare: true,
    file: REPLAY_LEASE,
    edits: [["checks: [mine, ...checks]", "checks"]],
  },
  {
    name: "a restore counts what has not landed yet",
    file: "src/maintenance/restore.ts",
    edits: [["    await before;\n    const mark", "    const mark"]],
  },
  {
    name: "a restore takes one line more for written than was",
    isRare: true,
    file: "src/maintenance/restore.ts",
    edits: [[
      "mark.lastHash === lastHash) return mark.restored;",
      "mark.lastHash === lastHash) return mark.restored + 1;",
    ]],
  },
  {
    name: "who follows the log is shown the last line again",
    file: "src/log/follow_log.ts",
    edits: [["next = batch.at(-1)!.position + 1;", "next = batch.at(-1)!.position;"]],
  },
  {
    name: "what was read in a generation that was removed is told",
    isRare: true,
    file: HEAD_READER,
    edits: [["HEAD_LIMIT_MS = 9_000", "HEAD_LIMIT_MS = 9_000_000"]],
  },
];
