import { createHash } from "node:crypto";
import type { Commit, Key, SetMutation } from "../../src/store/store.ts";
import type { ModelStore } from "./model_store.ts";
import type { Node } from "./node.ts";
import { projectionFaults } from "./projection_faults.ts";
import { RecordRules } from "./record_rules.ts";
import type { Simulation } from "./simulation.ts";
import { linesFaults, linesOf } from "./stored_lines.ts";
import type { Violations } from "./violations.ts";

/** A line of the log as it was committed to the store. */
export interface CommittedLine {
  position: number;
  text: string;
  // deno-lint-ignore no-explicit-any -- parsed with plain JSON.parse, not by the code under test
  event: any;
  /** The JSON text of the pet that the event adds, cut out of the line; absent for other events. */
  petText?: string;
  step: number;
  at: number;
  /** The node that committed the line. */
  node: Node;
}

export interface CommittedPet extends CommittedLine {
  id: number;
  petText: string;
  status: string | undefined;
}

/** The head as the oracle reads it. */
interface StoredHead extends Record<string, unknown> {
  generation: number;
  building?: { generation: number };
}

/** The first hash of the chain: 64 zeros. */
const GENESIS = "0".repeat(64);

const DATA_MARK = ',"data":';

/**
 * Records what the store really holds, and checks every commit: no line is changed or removed, the hash chain
 * is intact, the head matches the log, the commit of an event holds exactly its projection records, and a
 * generation is served only if it is complete. It shares no code with the service.
 */
export class Oracle {
  readonly lines: CommittedLine[] = [];
  readonly pets: CommittedPet[] = [];
  /** The steps of all key events and of all changes of the served generation. */
  readonly keyChangeSteps: number[] = [];
  #simulation: Simulation;
  #violations: Violations;
  #recordRules: RecordRules;
  #lastHash = GENESIS;
  #keyPosition = 0;
  #head: StoredHead = { generation: 1 };

  constructor(simulation: Simulation, violations: Violations) {
    this.#simulation = simulation;
    this.#violations = violations;
    this.#recordRules = new RecordRules(violations);
  }

  /** Number of lines or pets that had been committed by the end of a step. Expects them in order. */
  countCommittedBy(committed: readonly CommittedLine[], step: number): number {
    let low = 0;
    let high = committed.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (committed[middle].step <= step) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Receives every commit that the store has applied. */
  observe({ mutations }: Commit, node: Node, model: ModelStore): void {
    this.#recordRules.observe(mutations);
    const before = this.lines.length;
    let head: StoredHead | undefined;
    const records = new Map<number, SetMutation[]>();
    for (const mutation of mutations) {
      const [space, second] = mutation.key;
      if (space === "~log") {
        if (mutation.type === "set") this.#addRecord(mutation, node);
      } else if (space === "head") {
        if (mutation.type === "delete") this.#violations.add("The head was deleted");
        else head = JSON.parse(mutation.value as string);
      } else if (space === "projection") {
        const generation = second as number;
        if (mutation.type === "delete") this.#expectNotInUse(generation);
        else records.set(generation, [...records.get(generation) ?? [], mutation]);
      }
    }
    const added = this.lines.slice(before);
    if (head !== undefined) this.#checkHead(head, model);
    else if (added.length > 0) this.#violations.add("Lines were committed without a head");
    this.#checkRecords(records, added);
  }

  /** Checks that the projections of a generation hold exactly the records that the log implies. */
  checkGeneration(generation: number, model: ModelStore): void {
    const records = scanAll(model, ["projection", generation]);
    for (const fault of projectionFaults(records, this.lines, { mayHaveExpired: true })) {
      this.#violations.add(`Generation ${generation}: ${fault}`);
    }
  }

  /** Checks that a store holds exactly the lines of the log, each once. */
  checkLog(model: ModelStore): void {
    const records = scanAll(model, ["~log"])
      .map(({ key, value }) => ({ number: key[1] as number, value }));
    const expected = new Map(this.lines.map(({ position, text }) => [position, text]));
    for (const fault of linesFaults(records, expected)) this.#violations.add(`Log: ${fault}`);
  }

  get servedGeneration(): number {
    return this.#head.generation;
  }

  #addRecord({ key, value }: SetMutation, node: Node): void {
    const last = key[1] as number;
    const texts = linesOf(value);
    if (texts === undefined || last !== this.lines.length + texts.length) {
      this.#violations.add(
        `${texts?.length} lines were committed at ${last} after ${this.lines.length} lines`,
      );
      return;
    }
    for (const text of texts) this.#addLine(text, node);
  }

  #addLine(text: string, node: Node): void {
    const position = this.lines.length + 1;
    const event = JSON.parse(text);
    const sound = Number(event.sequence) === position && event.previoushash === this.#lastHash;
    if (!sound) this.#violations.add(`The hash chain breaks at ${position}`);
    this.#lastHash = createHash("sha256").update(text).digest("hex");
    const { step, now: at } = this.#simulation;
    const line: CommittedLine = { position, text, event, step, at, node };
    this.lines.push(line);
    switch (event.type) {
      case "ApiKeyIssued":
      case "ApiKeyRevoked":
        this.#keyPosition = position;
        this.keyChangeSteps.push(step);
        break;
      case "PetCreated": {
        const { id, status } = event.data;
        if (id !== this.pets.length + 1) {
          this.#violations.add(`Pet ${id} was committed after ${this.pets.length} pets`);
        }
        const petText = text.slice(text.indexOf(DATA_MARK) + DATA_MARK.length, -1);
        line.petText = petText;
        this.pets.push({ ...line, id, status, petText });
        break;
      }
      default:
        this.#violations.add(`The oracle does not know events of type ${event.type}`);
    }
  }

  #checkHead(head: StoredHead, model: ModelStore): void {
    const expected: Record<string, unknown> = {
      position: this.lines.length,
      lastPetId: this.pets.length,
      lastHash: this.#lastHash,
      keyPosition: this.#keyPosition,
    };
    for (const [name, value] of Object.entries(expected)) {
      if (head[name] !== value) {
        this.#violations.add(`The head has ${name} ${head[name]} instead of ${value}`);
      }
    }
    const before = this.#head.generation;
    const { generation } = head;
    this.#head = head;
    if (generation === before) return;
    if (generation < before) {
      this.#violations.add(`Generation ${generation} is served after ${before}`);
    }
    this.keyChangeSteps.push(this.#simulation.step);
    this.checkGeneration(generation, model);
  }

  /**
   * Checks the projection records of a commit, by generation. If the commit adds lines, it must hold exactly
   * their records in every written generation.
   */
  #checkRecords(records: Map<number, SetMutation[]>, added: readonly CommittedLine[]): void {
    for (const generation of records.keys()) {
      if (this.#writtenGenerations.includes(generation)) continue;
      this.#violations.add(`A commit wrote to generation ${generation}, which is not in use`);
    }
    if (added.length === 0) return;
    for (const generation of this.#writtenGenerations) {
      const written = records.get(generation) ?? [];
      for (const fault of projectionFaults(written, added, { mayHaveExpired: false })) {
        this.#violations.add(`A commit to generation ${generation}: ${fault}`);
      }
    }
  }

  #expectNotInUse(generation: number): void {
    if (!this.#writtenGenerations.includes(generation)) return;
    this.#violations.add(`A record was removed from generation ${generation}, which is in use`);
  }

  /** The generations that every commit of an event must write. */
  get #writtenGenerations(): number[] {
    const { generation, building } = this.#head;
    return building === undefined ? [generation] : [generation, building.generation];
  }
}

/** All entries below a prefix. */
export function scanAll(model: ModelStore, prefix: Key) {
  const limit = model.limits.listEntries;
  const entries = model.scan({ prefix }, { limit });
  for (let batch = entries; batch.length === limit;) {
    const start = [...batch.at(-1)!.key, new Uint8Array()];
    batch = model.scan({ prefix, start }, { limit });
    entries.push(...batch);
  }
  return entries;
}

const DAY_MS = 24 * 60 * 60 * 1_000;

/** When the Idempotency-Key of a pet's event expires, in milliseconds since the Unix epoch. */
export function idempotencyKeyExpiresAt(line: CommittedLine): number {
  return Date.parse(line.event.time) + DAY_MS;
}
