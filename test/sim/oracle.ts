import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Commit, Key, SetMutation } from "../../src/eventstore_less/store/store.ts";
import type { Subject } from "./history.ts";
import type { Node } from "./node.ts";
import type { Simulation } from "./simulation.ts";

/** A line of the log as it was committed to the store. */
export interface CommittedLine {
  position: number;
  text: string;
  // deno-lint-ignore no-explicit-any -- parsed with plain JSON.parse, not by the code under test
  event: any;
  step: number;
  at: number;
  node: Node;
  /** Whether the commit also has an earlier event of the same subject. */
  isShared: boolean;
}

/** A line that says how a pet or a category is from then on, or that it was removed. */
export interface State extends CommittedLine {
  subject: Subject;
  id: number;
  /** The JSON text of the subject after the event, or of the removed one, cut out of the line. */
  shown: string;
  isRemoved: boolean;
  /** Absent for the first state of the subject. */
  before?: State;
  /** The step of the next change; infinite if there was none. */
  endStep: number;
}

interface StoredHead extends Record<string, unknown> {
  generation: number;
}

const DAY_MS = 24 * 60 * 60 * 1_000;

/** How long a record of an Idempotency-Key must be kept after it has expired by the times in the log. */
const KEPT_MS = 60 * 60 * 1_000;

/** The first hash of the chain: 64 zeros. */
const GENESIS = "0".repeat(64);

const DATA_MARK = ',"data":';

/** The places of a group of consumers, as an instance has stored them. */
export interface StoredPlaces {
  node: Node;
  step: number;
  /** `named` changes when an owner names the place. */
  places: Record<string, { position: number; named?: string }>;
}

/**
 * Records what the store really holds, and checks every commit: no line is changed or removed, the hash chain is intact,
 * the head matches the log, and only the commit of an event writes to the served generation; others may only remove
 * Idempotency-Keys that are over by the true time and by the log. It shares no code with the service. The audits compare the projections with the log.
 */
export class Oracle {
  readonly lines: CommittedLine[] = [];
  /** What the instances have stored of the places of webhooks, in the order of the commits. */
  readonly storedPlaces: StoredPlaces[] = [];
  /** The states of all pets and categories, in the order of the log. */
  readonly states: State[] = [];
  /** The positions of the events whose records of Idempotency-Keys a fault has removed at some time. */
  readonly lostPositions = new Set<number>();
  #simulation: Simulation;
  #violations: string[];
  #lastHash = GENESIS;
  #statesById: Record<Subject, Map<number, State[]>> = { pet: new Map(), category: new Map() };
  #types: Record<string, { version: string; count: number; last: number }> = {};
  /** The last line of each subject. */
  #lastOf = new Map<string, CommittedLine>();
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

  /** The states of a pet or a category, in order. */
  statesOf(subject: Subject, id: number): readonly State[] {
    return this.#statesById[subject].get(id) ?? [];
  }

  /** The state at a head, which may be a removal; `undefined` before the first one. */
  stateAt(subject: Subject, id: number, position: number): State | undefined {
    return this.statesOf(subject, id).findLast((state) => state.position <= position);
  }

  /** The states of all pets or categories at a head, by ascending id. */
  statesAt(subject: Subject, position: number): State[] {
    const ids = [...this.#statesById[subject].keys()].sort((one, other) => one - other);
    const states = ids.map((id) => this.stateAt(subject, id, position));
    return states.filter((state) => state !== undefined);
  }

  /** The same without those that are removed. */
  presentAt(subject: Subject, position: number): State[] {
    return this.statesAt(subject, position).filter(({ isRemoved }) => !isRemoved);
  }

  /** The removals of the pets that are removed at a head, last first. */
  removedAt(position: number): State[] {
    const removals = this.statesAt("pet", position).filter(({ isRemoved }) => isRemoved);
    return removals.sort((one, other) => other.position - one.position);
  }

  /** Receives every commit that the store has applied. */
  observe({ mutations }: Commit, node: Node): void {
    const before = this.lines.length;
    const served = this.servedGeneration;
    let head: StoredHead | undefined;
    for (const mutation of mutations) {
      const [space] = mutation.key;
      if (mutation.type === "delete") {
        if (space === "~log" || space === "head") {
          this.#violations.push(`${mutation.key.join("/")} was deleted although it is in use`);
        }
      } else if (space === "~log") this.#addRecord(mutation, node);
      else if (space === "head") head = JSON.parse(textOf(mutation));
      else if (space === "consumers") {
        const { places } = JSON.parse(textOf(mutation));
        this.storedPlaces.push({ node, step: this.#simulation.step, places });
      }
    }
    const added = this.lines.length - before;
    for (const { type, key } of mutations) {
      const [space, generation] = key as [string, number];
      if (added === 0 && type === "delete" && key[2] === "event_by_idempotency_key") {
        if (generation === served) this.#checkSwept(key);
        continue;
      }
      const isAllowed = space !== "projection" ||
        (added > 0
          ? generation === served
          : generation > served || generation < served && type === "delete");
      if (isAllowed) continue;
      this.#violations.push(
        `A commit of ${added} events touched generation ${generation} while ${served} was served: ` +
          `${type} ${JSON.stringify(key)}`,
      );
    }
    if (head !== undefined) this.#checkHead(head);
    else if (added > 0) this.#violations.push("Lines were committed without a head");
  }

  #checkSwept(key: Key): void {
    const { event } = this.lines[key.at(-1) as number - 1];
    const expiresAt = Date.parse(event.time) + DAY_MS;
    const times = this.lines.map(({ event }) => Date.parse(event.time));
    if (expiresAt <= this.#simulation.now && expiresAt + KEPT_MS <= Math.max(...times)) return;
    this.#violations.push(`An Idempotency-Key was removed that is not over: ${key.join("/")}`);
  }

  /**
   * Whether the events at two positions may have the same Idempotency-Key: the record of the first was lost, or it was
   * over when the second was stored. By a clock that is far behind, the two may then be less than a day apart.
   */
  mayRepeat([first, second]: number[]): boolean {
    const expiresAt = Date.parse(this.lines[first - 1].event.time) + DAY_MS;
    return this.lostPositions.has(first) || expiresAt <= this.lines[second - 1].at;
  }

  get servedGeneration(): number {
    return this.#head.generation;
  }

  #addRecord(mutation: SetMutation, node: Node): void {
    const last = mutation.key[1] as number;
    const texts = linesOf(mutation);
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
    const { type, dataschema, subject } = event;
    const versions = [dataschema.split(":").at(-1), this.#types[type]?.version ?? "0"];
    const version = versions.sort((one, other) => Number(other) - Number(one))[0];
    const count = (this.#types[type]?.count ?? 0) + 1;
    this.#types[type] = { version, count, last: position };
    const before = this.#lastOf.get(subject);
    const predecessor = before && String(before.position).padStart(16, "0");
    if (event.predecessor !== predecessor) {
      this.#violations.push(`${shortened(text)} does not name its predecessor ${predecessor}`);
    }
    const sound = Number(event.sequence) === position && event.previoushash === this.#lastHash;
    if (!sound) this.#violations.push(`The hash chain breaks at ${position}`);
    this.#lastHash = createHash("sha256").update(text).digest("hex");
    const { step, now: at } = this.#simulation;
    const isShared = before?.step === step;
    const line: CommittedLine = { position, text, event, step, at, node, isShared };
    this.lines.push(line);
    this.#lastOf.set(subject, line);
    if (type.startsWith("Pet")) this.#addState("pet", line);
    if (type.startsWith("Category")) this.#addState("category", line);
  }

  #addState(subject: Subject, line: CommittedLine): void {
    const { event: { type, data: { id } }, text } = line;
    const from = text.indexOf(DATA_MARK) + DATA_MARK.length;
    const shown = text.slice(from, -1).replace(/,"previous":\{.*/s, "}");
    const states = this.#statesById[subject].getOrInsertComputed(id, () => []);
    const before = states.at(-1);
    const isRemoved = type.endsWith("Removed");
    const state: State = { ...line, subject, id, shown, isRemoved, before, endStep: Infinity };
    if (isRemoved && (before === undefined || before.isRemoved || before.shown !== shown)) {
      this.#violations.push(`${before?.shown} was removed by ${shortened(text)}`);
    }
    if (subject === "pet") this.#checkPet(state);
    if (subject === "category" && !isRemoved) this.#checkName(state);
    if (before !== undefined) before.endStep = line.step;
    states.push(state);
    this.states.push(state);
  }

  /** Checks that pets are added in the order of their ids, and that only a restore follows a removal. */
  #checkPet({ id, shown, before, event: { type }, text }: State): void {
    const { size } = this.#statesById.pet;
    const isNew = before === undefined;
    const isAddition = type === "PetCreated";
    if (isNew !== isAddition || isNew && id !== size) {
      this.#violations.push(`Pet ${id} of ${size} has ${shortened(text)}`);
    }
    const isRestore = type === "PetRestored";
    if (before?.isRemoved && !isRestore) {
      this.#violations.push(`Removed pet ${id} has ${shortened(text)}`);
    }
    if (isRestore && !(before?.isRemoved && before.shown === shown)) {
      this.#violations.push(`${before?.shown} was restored by ${shortened(text)}`);
    }
  }

  /** Checks that a name follows the one before it, and that no other category has it. */
  #checkName({ id, position, before, event: { data }, text }: State): void {
    const former = before?.isRemoved ? undefined : before?.event.data.name;
    if (data.previous?.name !== former || data.name === former) {
      this.#violations.push(`Category ${id} was named ${former} before ${shortened(text)}`);
    }
    const others = this.presentAt("category", position - 1).filter((it) => it.id !== id);
    if (others.some((other) => hasName(other, data.name))) {
      this.#violations.push(`Another category has the name of ${shortened(text)}`);
    }
  }

  #counts(): Record<string, Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { event } of this.presentAt("pet", Infinity)) {
      const list = event.data.status ?? "none";
      counts[list] = (counts[list] ?? 0) + 1;
    }
    const named = this.presentAt("category", Infinity).length;
    const present = this.#countOf("WebhookAdded") - this.#countOf("WebhookRemoved");
    return {
      ...(Object.keys(counts).length > 0 && { pets: counts }),
      ...(named > 0 && { categories: { named } }),
      ...(present > 0 && { webhooks: { present } }),
    };
  }

  #countOf(type: string): number {
    return this.#types[type]?.count ?? 0;
  }

  #checkHead(head: StoredHead): void {
    const { lines } = this;
    const expected: Record<string, unknown> = {
      position: lines.length,
      counts: this.#counts(),
      lastHash: this.#lastHash,
      types: this.#types,
    };
    for (const [name, value] of Object.entries(expected)) {
      if (isDeepStrictEqual(head[name] ?? {}, value)) continue;
      const [found, wanted] = [head[name], value].map((it) => JSON.stringify(it));
      this.#violations.push(`The head has ${name} ${found} instead of ${wanted}`);
    }
    if (head.generation < this.servedGeneration) {
      this.#violations.push(`Generation ${head.generation} follows ${this.servedGeneration}`);
    }
    this.#head = head;
  }
}

/** Whether a category has a name, without regard to case. The names are in ASCII. */
export function hasName({ event }: State, name: string): boolean {
  return event.data.name.toLowerCase() === name.toLowerCase();
}

/** The text of a record; what no record holds if the checksum before it is not that of its key and its text. */
export function textOf({ key, value }: { key: Key; value: unknown }): string {
  const bytes = Buffer.from(value as Uint8Array);
  const content = bytes.subarray(4);
  const isRight = bytes.readUInt32BE() === crc32(Buffer.concat([Buffer.from(`${key}`), content]));
  return isRight ? content.toString() : "a wrong checksum";
}

/** The lines of a record, in which a line feed follows each line; none if it is anything else. */
function linesOf(record: { key: Key; value: unknown }): string[] {
  const lines = textOf(record).split("\n");
  return lines.pop() === "" && !lines.includes("") ? lines : [];
}

/** The position of the feed after a line; without one, that before the first. */
export function feedIdOf({ position, text }: { position: number; text?: string }): string {
  const hash = text === undefined ? GENESIS : createHash("sha256").update(text).digest("hex");
  return `${String(position).padStart(16, "0")}-${hash.slice(0, 16)}`;
}

export function shortened(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}
