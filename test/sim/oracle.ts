import { createHash } from "node:crypto";
import type { Commit } from "../../src/store/store.ts";
import type { Node } from "./node.ts";
import type { ModelStore } from "./model_store.ts";
import type { Violations } from "./violations.ts";
import type { Simulation } from "./simulation.ts";

/** A line of the log as it was committed to the store. */
export interface CommittedLine {
  position: number;
  text: string;
  // deno-lint-ignore no-explicit-any -- parsed with plain JSON.parse, not by the code under test
  event: any;
  step: number;
  at: number;
  /** The node that committed the line. */
  node: Node;
}

export interface CommittedPet extends CommittedLine {
  id: number;
  /** The pet's JSON text, cut out of the line. */
  body: string;
  status: string | undefined;
}

/** The first hash of the chain: 64 zeros. */
const GENESIS = "0".repeat(64);

const DATA_MARK = ',"data":';

/**
 * Records what the store really holds, and checks every commit: no line is changed or removed, the hash chain
 * is intact, the head matches the log, and a generation is served only if it is complete. It shares no code
 * with the service.
 */
export class Oracle {
  readonly lines: CommittedLine[] = [];
  readonly pets: CommittedPet[] = [];
  /** The steps of all key events and of all changes of the served generation. */
  readonly keyChangeSteps: number[] = [];
  #simulation: Simulation;
  #violations: Violations;
  #lastHash = GENESIS;
  #keyPosition = 0;
  #generation = 1;

  constructor(simulation: Simulation, violations: Violations) {
    this.#simulation = simulation;
    this.#violations = violations;
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
    const before = this.lines.length;
    let head: Record<string, unknown> | undefined;
    for (const mutation of mutations) {
      const [space, position] = mutation.key;
      if (space === "log") {
        if (mutation.type !== "set" || !(mutation.value instanceof Uint8Array)) {
          this.#violations.add(`The line at ${String(position)} was deleted or is not bytes`);
        } else this.#addLine(Number(position), mutation.value, node);
      } else if (space === "head" && mutation.key.length === 1) {
        if (mutation.type === "delete") this.#violations.add("The head was deleted");
        else head = JSON.parse(mutation.value as string);
      }
    }
    if (head !== undefined) this.#checkHead(head, model);
    else if (this.lines.length > before) {
      this.#violations.add("Lines were committed without a head");
    }
  }

  /** Checks that the projections of a generation hold exactly the records that the log implies. */
  checkGeneration(generation: number, model: ModelStore): void {
    const found = new Map<string, unknown>();
    for (const { key, value } of scanAll(model, ["projection", generation])) {
      found.set(JSON.stringify(key.slice(2)), value);
    }
    for (const { key, members, text, mayBeMissing } of this.lines.flatMap(expectedRecords)) {
      const name = JSON.stringify(key);
      const value = found.get(name);
      found.delete(name);
      if (value === undefined) {
        if (!mayBeMissing) {
          this.#violations.add(`Generation ${generation} lacks the record ${name}`);
        }
      } else if (text === undefined ? !hasMembers(value, members) : !isTextOf(value, text)) {
        this.#violations.add(`Generation ${generation} holds ${value} under ${name}`);
      }
    }
    for (const name of found.keys()) {
      this.#violations.add(`Generation ${generation} holds ${name} without an event`);
    }
  }

  get servedGeneration(): number {
    return this.#generation;
  }

  #addLine(position: number, bytes: Uint8Array, node: Node): void {
    const text = new TextDecoder().decode(bytes);
    if (position !== this.lines.length + 1) {
      this.#violations.add(`A line was committed at ${position} after ${this.lines.length} lines`);
      return;
    }
    const event = JSON.parse(text);
    const sound = Number(event.sequence) === position && event.previoushash === this.#lastHash;
    if (!sound) this.#violations.add(`The hash chain breaks at ${position}`);
    this.#lastHash = createHash("sha256").update(bytes).digest("hex");
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
        const body = text.slice(text.indexOf(DATA_MARK) + DATA_MARK.length, -1);
        this.pets.push({ ...line, id, status, body });
        break;
      }
      default:
        this.#violations.add(`The oracle does not know events of type ${event.type}`);
    }
  }

  #checkHead(head: Record<string, unknown>, model: ModelStore): void {
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
    const generation = head.generation as number;
    if (generation === this.#generation) return;
    if (generation < this.#generation) {
      this.#violations.add(`Generation ${generation} is served after ${this.#generation}`);
    }
    this.#generation = generation;
    this.keyChangeSteps.push(this.#simulation.step);
    this.checkGeneration(generation, model);
  }
}

/** All entries below a prefix. */
export function scanAll(model: ModelStore, prefix: Deno.KvKey) {
  const entries = model.scan({ prefix }, { limit: 1_000 });
  for (let batch = entries; batch.length === 1_000;) {
    const start = [...batch.at(-1)!.key, new Uint8Array()];
    batch = model.scan({ prefix, start }, { limit: 1_000 });
    entries.push(...batch);
  }
  return entries;
}

interface ExpectedRecord {
  key: (string | number)[];
  /** The exact value as UTF-8 text, if it is known. */
  text?: string;
  /** Members that the value must have if it is JSON; others are allowed. */
  members: Record<string, unknown>;
  mayBeMissing: boolean;
}

const DAY_MS = 24 * 60 * 60 * 1_000;

/** The projection records of an event as the design specifies them: a second implementation of project(). */
function expectedRecords({ event, position, text: line }: CommittedLine): ExpectedRecord[] {
  const { data, type, time, actor } = event;
  const permanent = { members: {}, mayBeMissing: false };
  switch (type) {
    case "PetCreated": {
      const text = line.slice(line.indexOf(DATA_MARK) + DATA_MARK.length, -1);
      const records: ExpectedRecord[] = [{ ...permanent, key: ["pet", data.id], text }];
      if (data.status !== undefined) {
        records.push({ ...permanent, key: ["pet_by_status", data.status, data.id], text });
      }
      if (event.idempotencykey !== undefined) {
        const key = ["pet_by_idempotency_key", actor, event.idempotencykey, position];
        // The record expires, at a time that depends on the writer's clock, which may have been wrong.
        records.push({ key, members: { petId: data.id }, mayBeMissing: true });
      }
      return records;
    }
    case "ApiKeyIssued": {
      const { keyId, label, expiresAt, tokenHash } = data;
      const members = { keyId, label, issuedAt: time, expiresAt };
      return [{ ...permanent, key: ["key_by_token", tokenHash, position], members }];
    }
    case "ApiKeyRevoked": {
      const members = { keyId: data.keyId, revokedAt: data.effectiveAt };
      return [{ ...permanent, key: ["key_by_token", data.tokenHash, position], members }];
    }
    default:
      throw new Error(`The oracle does not know events of type ${type}`);
  }
}

/** When the Idempotency-Key of a pet's event expires, in milliseconds since the Unix epoch. */
export function idempotencyKeyExpiresAt(line: CommittedLine): number {
  return Date.parse(line.event.time) + DAY_MS;
}

function isTextOf(value: unknown, text: string): boolean {
  return value instanceof Uint8Array && new TextDecoder().decode(value) === text;
}

function hasMembers(value: unknown, members: Record<string, unknown>): boolean {
  const record = JSON.parse(value as string);
  return Object.entries(members).every(([name, expected]) => record[name] === expected);
}
