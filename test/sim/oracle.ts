import { createHash } from "node:crypto";
import type { Commit, Key, Mutation, SetMutation } from "../../src/store/store.ts";
import type { ModelStore } from "./model_store.ts";
import type { Node } from "./node.ts";
import { linesOf, logFaults, PET_LISTS, recordFaults, textOf } from "./record_faults.ts";
import type { Simulation } from "./simulation.ts";

/** A line of the log as it was committed to the store. */
export interface CommittedLine {
  position: number;
  text: string;
  // deno-lint-ignore no-explicit-any -- parsed with plain JSON.parse, not by the code under test
  event: any;
  /** The JSON text of the pet after the event, cut out of the line; absent for other events. */
  petText?: string;
  step: number;
  at: number;
  /** The node that committed the line. */
  node: Node;
}

/** A line that says how a pet is from then on. */
export interface PetState extends CommittedLine {
  id: number;
  petText: string;
  status: string | undefined;
  /** Absent for the state in which the pet was added. */
  before?: PetState;
  /** The step of the next change; infinite if there was none. */
  endStep: number;
}

/** The head as the oracle reads it. */
interface StoredHead extends Record<string, unknown> {
  generation: number;
}

/** The first hash of the chain: 64 zeros. */
export const GENESIS = "0".repeat(64);

const DATA_MARK = ',"data":';
const PREVIOUS_MARK = ',"previous":{';

/**
 * Records what the store really holds, and checks every commit: no line is changed or removed, the hash chain
 * is intact, a change says truly what was before it, the head matches the log, the commit of an event holds exactly its
 * projection records, nothing else writes to the served generation, and a generation is served only if it is complete.
 * It shares no code with the service.
 */
export class Oracle {
  readonly lines: CommittedLine[] = [];
  /** The states of each pet in order, by id: those of pet 1 come first. */
  readonly pets: PetState[][] = [];
  /** The steps of all key events and of all changes of the served generation. */
  readonly keyChangeSteps: number[] = [];
  #simulation: Simulation;
  #violations: string[];
  #lastHash = GENESIS;
  #keyPosition = 0;
  #changePosition = 0;
  #schemas: Record<string, number> = {};
  #head: StoredHead = { generation: 1 };

  constructor(simulation: Simulation, violations: string[]) {
    this.#simulation = simulation;
    this.#violations = violations;
  }

  /** Number of lines that had been committed by the end of a step. */
  countCommittedBy(step: number): number {
    return this.lines.findLastIndex((line) => line.step <= step) + 1;
  }

  /** The positions of all heads that the store had from the end of one step to the end of another. */
  headsBetween(startStep: number, endStep: number): number[] {
    const heads = [this.countCommittedBy(startStep)];
    for (let position = heads[0] + 1; this.lines[position - 1]?.step <= endStep; position++) {
      // A commit may have added several lines.
      if (this.lines[position - 1].step === this.lines[position]?.step) continue;
      heads.push(position);
    }
    return heads;
  }

  /** The state of a pet at a head, if the pet had been added. */
  stateAt(id: number, position: number): PetState | undefined {
    return this.pets[id - 1]?.findLast((state) => state.position <= position);
  }

  /** Receives every commit that the store has applied. */
  observe({ mutations }: Commit, node: Node, model: ModelStore): void {
    const before = this.lines.length;
    const served = this.servedGeneration;
    let head: StoredHead | undefined;
    const records = new Map<number, Mutation[]>();
    for (const mutation of mutations) {
      const [space, generation] = mutation.key as [string, number];
      if (space === "projection") {
        records.set(generation, [...records.get(generation) ?? [], mutation]);
      } else if (mutation.type === "delete") {
        if (space === "~log" || space === "head") {
          this.#violations.push(`${mutation.key.join("/")} was deleted although it is in use`);
        }
      } else if (space === "~log") this.#addRecord(mutation, node);
      else if (space === "head") head = JSON.parse(textOf(mutation.value));
    }
    const added = this.lines.slice(before);
    this.#checkRecords(records, added, served, model);
    if (head !== undefined) this.#checkHead(head, model);
    else if (added.length > 0) this.#violations.push("Lines were committed without a head");
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
    const { type, data, dataschema } = event;
    const sound = Number(event.sequence) === position && event.previoushash === this.#lastHash;
    if (!sound) this.#violations.push(`The hash chain breaks at ${position}`);
    this.#lastHash = createHash("sha256").update(text).digest("hex");
    const version = Number(dataschema.split(":").at(-1));
    this.#schemas[type] = Math.max(version, this.#schemas[type] ?? 0);
    const { step, now: at } = this.#simulation;
    const line: CommittedLine = { position, text, event, step, at, node };
    this.lines.push(line);
    switch (type) {
      case "ApiKeyIssued":
      case "ApiKeyRevoked":
        this.#keyPosition = position;
        this.keyChangeSteps.push(step);
        break;
      case "PetCreated":
        if (data.id !== this.pets.length + 1) {
          this.#violations.push(`Pet ${data.id} was committed after ${this.pets.length} pets`);
        }
        this.pets.push([]);
        this.#addState(line, text.slice(text.indexOf(DATA_MARK) + DATA_MARK.length, -1));
        break;
      case "PetUpdated": {
        this.#changePosition = position;
        const end = text.indexOf(PREVIOUS_MARK);
        const petText = text.slice(text.indexOf(DATA_MARK) + DATA_MARK.length, end) + "}";
        this.#addState(line, petText);
        const [before, after] = (this.pets[data.id - 1] ?? []).slice(-2).map((state) =>
          JSON.parse(state.petText)
        );
        if (after === undefined || !isReversePatch(data.previous, before, after)) {
          this.#violations.push(`Line ${position} does not say what was before it: ${text}`);
        }
        break;
      }
      default:
        this.#violations.push(`The oracle does not know events of type ${type}`);
    }
  }

  #addState(line: CommittedLine, petText: string): void {
    const { id, status } = line.event.data;
    line.petText = petText;
    const states = this.pets[id - 1] ?? [];
    const before = states.at(-1);
    if (before !== undefined) before.endStep = line.step;
    states.push({ ...line, id, status, petText, before, endStep: Infinity });
  }

  #checkHead(head: StoredHead, model: ModelStore): void {
    const expected: Record<string, unknown> = {
      position: this.lines.length,
      lastPetId: this.pets.length,
      lastHash: this.#lastHash,
      keyPosition: this.#keyPosition,
      changePosition: this.#changePosition,
      schemas: inOrder(this.#schemas),
    };
    const found: StoredHead = { ...head, schemas: inOrder(head.schemas as Record<string, number>) };
    for (const [name, value] of Object.entries(expected)) {
      if (found[name] !== value) {
        this.#violations.push(`The head has ${name} ${found[name]} instead of ${value}`);
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
   * Checks the projection records that a commit writes and removes, by generation. A commit that adds lines must write
   * exactly their records, to the served generation only. No other commit may touch that generation.
   */
  #checkRecords(
    records: Map<number, Mutation[]>,
    added: readonly CommittedLine[],
    served: number,
    model: ModelStore,
  ): void {
    for (const [generation, mutations] of records) {
      const isRemoval = mutations.every(({ type }) => type === "delete");
      const isAllowed = added.length > 0
        ? generation === served
        : generation > served || generation < served && isRemoval;
      if (isAllowed) continue;
      const [{ type, key }] = mutations;
      this.#violations.push(
        `A commit of ${added.length} events touched generation ${generation} while ${served} was served: ` +
          `${type} ${JSON.stringify(key)}`,
      );
    }
    if (added.length === 0) return;
    const mutations = records.get(served) ?? [];
    const written = mutations.filter((mutation) => mutation.type === "set").map(ofGeneration);
    const faults = recordFaults(written, added, false);
    const ids = new Set(added.map(({ event, petText }) => petText && event.data.id));
    for (const { type, key } of mutations) {
      const isOfPet = key[2] === "pet" && ids.has(key.at(-1));
      if (type === "delete" && !isOfPet) faults.push(`${JSON.stringify(key)} was removed`);
    }
    // The newest record of a pet is right, so a pet in two lists was left in its former one.
    for (const id of ids) {
      if (id === undefined) continue;
      const lists = PET_LISTS.filter((list) => model.read(["projection", served, "pet", list, id]));
      if (lists.length !== 1) faults.push(`pet ${id} is in the lists ${lists.join(" and ")}`);
    }
    for (const fault of faults) {
      this.#violations.push(`A commit to generation ${served}: ${fault}`);
    }
  }
}

function ofGeneration<T>({ key, value }: { key: Key; value: T }) {
  return { key: key.slice(2), value };
}

type Fields = Record<string, unknown>;

/** Whether a patch names exactly the fields that differ, each with its value before. */
function isReversePatch(patch: Fields, before: Fields, after: Fields): boolean {
  const names = Object.keys({ ...before, ...after });
  const changed = names.filter((name) => before[name] !== after[name]);
  return changed.length > 0 && Object.keys(patch).length === changed.length &&
    changed.every((name) => patch[name] === (before[name] ?? null));
}

function inOrder(schemas: Record<string, number> = {}): string {
  return JSON.stringify(Object.entries(schemas).sort());
}
