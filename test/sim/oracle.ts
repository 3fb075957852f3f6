import { createHash } from "node:crypto";
import type { Commit, Key, SetMutation } from "../../src/store/store.ts";
import type { ModelStore } from "./model_store.ts";
import type { Node } from "./node.ts";
import { linesOf, logFaults, recordFaults } from "./record_faults.ts";
import type { Simulation } from "./simulation.ts";

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
  #violations: string[];
  #lastHash = GENESIS;
  #keyPosition = 0;
  #head: StoredHead = { generation: 1 };

  constructor(simulation: Simulation, violations: string[]) {
    this.#simulation = simulation;
    this.#violations = violations;
  }

  /** Number of lines or pets that had been committed by the end of a step. Expects them in order. */
  countCommittedBy(committed: readonly CommittedLine[], step: number): number {
    return committed.findLastIndex((line) => line.step <= step) + 1;
  }

  /** Receives every commit that the store has applied. */
  observe({ mutations }: Commit, node: Node, model: ModelStore): void {
    const before = this.lines.length;
    let head: StoredHead | undefined;
    const records = new Map<number, SetMutation[]>();
    for (const mutation of mutations) {
      const [space, generation] = mutation.key as [string, number];
      if (mutation.type === "delete") {
        const isInUse = space === "projection" && this.#writtenGenerations.includes(generation);
        if (isInUse || space === "~log" || space === "head") {
          this.#violations.push(`${mutation.key.join("/")} was deleted although it is in use`);
        }
      } else if (space === "~log") this.#addRecord(mutation, node);
      else if (space === "head") head = JSON.parse(mutation.value as string);
      else if (space === "projection") {
        records.set(generation, [...records.get(generation) ?? [], mutation]);
      }
    }
    const added = this.lines.slice(before);
    if (head !== undefined) this.#checkHead(head, model);
    else if (added.length > 0) this.#violations.push("Lines were committed without a head");
    this.#checkRecords(records, added);
  }

  /** Checks that the projections of a generation hold exactly the records that the log implies. */
  checkGeneration(generation: number, model: ModelStore): void {
    const entries = model.all(["projection", generation]);
    for (const fault of recordFaults(entries.map(ofGeneration), this.lines, true)) {
      this.#violations.push(`Generation ${generation}: ${fault}`);
    }
  }

  /** Checks that a store holds exactly the lines of the log, each once. */
  checkLog(model: ModelStore): void {
    this.#violations.push(...logFaults(model.all(["~log"]), this.lines));
  }

  get servedGeneration(): number {
    return this.#head.generation;
  }

  #addRecord({ key, value }: SetMutation, node: Node): void {
    const last = key[1] as number;
    const texts = linesOf(value);
    if (last !== this.lines.length + texts.length) {
      this.#violations.push(
        `${texts.length} lines were committed at ${last} after ${this.lines.length} lines`,
      );
      return;
    }
    for (const text of texts) this.#addLine(text, node);
  }

  #addLine(text: string, node: Node): void {
    const position = this.lines.length + 1;
    const event = JSON.parse(text);
    const sound = Number(event.sequence) === position && event.previoushash === this.#lastHash;
    if (!sound) this.#violations.push(`The hash chain breaks at ${position}`);
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
          this.#violations.push(`Pet ${id} was committed after ${this.pets.length} pets`);
        }
        const petText = text.slice(text.indexOf(DATA_MARK) + DATA_MARK.length, -1);
        line.petText = petText;
        this.pets.push({ ...line, id, status, petText });
        break;
      }
      default:
        this.#violations.push(`The oracle does not know events of type ${event.type}`);
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
        this.#violations.push(`The head has ${name} ${head[name]} instead of ${value}`);
      }
    }
    const before = this.#head.generation;
    const { generation } = head;
    this.#head = head;
    if (generation === before) return;
    if (generation < before) {
      this.#violations.push(`Generation ${generation} is served after ${before}`);
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
      this.#violations.push(`A commit wrote to generation ${generation}, which is not in use`);
    }
    if (added.length === 0) return;
    for (const generation of this.#writtenGenerations) {
      const written = records.get(generation) ?? [];
      for (const fault of recordFaults(written.map(ofGeneration), added, false)) {
        this.#violations.push(`A commit to generation ${generation}: ${fault}`);
      }
    }
  }

  /** The generations that every commit of an event must write. */
  get #writtenGenerations(): number[] {
    const { generation, building } = this.#head;
    return building === undefined ? [generation] : [generation, building.generation];
  }
}

function ofGeneration<T>({ key, value }: { key: Key; value: T }) {
  return { key: key.slice(2), value };
}
