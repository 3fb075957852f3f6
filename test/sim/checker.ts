import { createHash } from "node:crypto";
import {
  type CreateOperation,
  type Exchange,
  type Export,
  type GetOperation,
  type History,
  type KeyCommand,
  type ListOperation,
  nextCursor,
  NOTHING_STORED,
} from "./history.ts";
import type { CommittedLine, CommittedPet, Oracle } from "./oracle.ts";
import { idempotencyKeyExpiresAt, shortened } from "./record_faults.ts";

/**
 * Maximum time to a response, in milliseconds.
 * - A read takes two reads of the head (the one in flight and the next), one of the key and one of the pets,
 *   each up to 2 seconds.
 * - A create takes two reads of the head, one of the key, and 3.5 seconds for the outcome.
 * - A create with an Idempotency-Key may also share the outcome of an earlier request, which takes another
 *   3.5 seconds, and ends with a read.
 */
const READ_LIMIT_MS = 8_000 + 100;
const CREATE_LIMIT_MS = 9_500 + 100;
const IDEMPOTENT_CREATE_LIMIT_MS = CREATE_LIMIT_MS + 3_500 + READ_LIMIT_MS;

/**
 * Checks the history of all requests and commands against what the store really held. It knows the promises of
 * the service, not its code.
 */
export class Checker {
  #oracle: Oracle;
  #violations: string[];
  #keys: Map<string, KeyLifetime>;
  #petsByName: Map<string, CommittedPet[]>;
  /** The first request for which a node accepted a key, by node and key. */
  #firstUses = new Map<string, Exchange>();

  constructor(oracle: Oracle, violations: string[]) {
    this.#oracle = oracle;
    this.#violations = violations;
    this.#keys = keyLifetimes(oracle);
    this.#petsByName = Map.groupBy(oracle.pets, ({ event }) => event.data.name);
  }

  check({ exchanges, keyCommands, exports }: History): void {
    for (const exchange of exchanges) {
      this.#checkTime(exchange);
      if (exchange.response === undefined) continue;
      const { status } = exchange.response;
      if (status === 500 || status === 503 && exchange.isFaultFree) {
        this.#report(exchange, "The request failed without faults");
      }
      this.#checkCredentials(exchange);
      this.#recordUse(exchange);
      const { operation } = exchange;
      if (operation.kind === "list") this.#checkList(exchange, operation);
      else if (operation.kind === "get") this.#checkGet(exchange, operation);
    }
    this.#checkCreateAttempts(exchanges);
    this.#checkIdempotency();
    for (const command of keyCommands) this.#checkKeyCommand(command);
    for (const copy of exports) this.#checkExport(copy);
  }

  #report(exchange: Exchange, violation: string): void {
    const { operation, response, startStep, endStep, node, key } = exchange;
    this.#violations.push(
      `${violation}: ${
        shortened(JSON.stringify(operation))
      }, key ${key.keyId}, node ${node.name}, ` +
        `steps ${startStep} to ${endStep}, ` +
        `response ${response?.status} ${shortened(response?.body ?? "")}`,
    );
  }

  #checkTime(exchange: Exchange): void {
    const { operation, node, startAt, endAt } = exchange;
    const limit = operation.kind !== "create"
      ? READ_LIMIT_MS
      : operation.idempotencyKey === undefined
      ? CREATE_LIMIT_MS
      : IDEMPOTENT_CREATE_LIMIT_MS;
    const took = endAt - startAt - node.pausedBetween(startAt, endAt);
    if (took > limit) {
      this.#report(exchange, `The request took ${took.toFixed(0)} ms, more than ${limit}`);
    }
  }

  /** The service must accept a key that was valid throughout the request, and refuse one that never was. */
  #checkCredentials(exchange: Exchange): void {
    const { status } = exchange.response!;
    // A service that cannot read the store cannot check the key. It answers 503.
    if (status === 503) return;
    const { mayBeValid, mayBeInvalid } = this.#keyValidity(exchange);
    if (status === 401 && !mayBeInvalid) this.#report(exchange, "A valid key was refused");
    if (status !== 401 && !mayBeValid) this.#report(exchange, "An invalid key was accepted");
    const mustBeForbidden = exchange.operation.kind === "create" && exchange.key.isReadOnly;
    if (status !== 401 && (status === 403) !== mustBeForbidden) {
      this.#report(exchange, "A key that may only read was not told from others");
    }
  }

  #keyValidity(exchange: Exchange): { mayBeValid: boolean; mayBeInvalid: boolean } {
    const { key, node, startAt, endAt, startStep, endStep } = exchange;
    const lifetime = this.#keys.get(key.keyId);
    if (lifetime === undefined) return { mayBeValid: false, mayBeInvalid: true };
    const { earliest, latest } = node.clockBetween(startAt, endAt);
    let mayBeValid = lifetime.issued.step <= endStep;
    let mayBeInvalid = lifetime.issued.step > startStep;
    // The node may also have computed the end of a cached key by its clock when it read the key.
    const latestComputed = Math.max(latest, Math.ceil(endAt + node.mostAhead(endAt)));
    for (const { from, step } of lifetime.ends) {
      // An immediate end applies from its commit, whatever the clocks show. A later end applies by the node's
      // clock.
      const hasEnded = step <= startStep &&
        (from === undefined || earliest >= from || this.#hasEndedInCache(exchange, from));
      const mayHaveEnded = step <= endStep && (from === undefined || latestComputed >= from);
      if (hasEnded) mayBeValid = false;
      if (mayHaveEnded) mayBeInvalid = true;
    }
    return { mayBeValid, mayBeInvalid };
  }

  #recordUse(exchange: Exchange): void {
    const { response, key, node } = exchange;
    if (response!.status === 401 || response!.status === 503) return;
    const name = `${node.name} ${key.keyId}`;
    const first = this.#firstUses.get(name);
    if (first === undefined || exchange.endAt < first.endAt) this.#firstUses.set(name, exchange);
  }

  /**
   * Whether a key ended before the request by the clock that its node had when it cached the key. This is
   * known under two conditions: the clock jumped only after the node accepted the key, and since then no key
   * event or change of the generation made the node read the key again.
   */
  #hasEndedInCache({ key, node, startAt, endStep }: Exchange, from: number): boolean {
    const first = this.#firstUses.get(`${node.name} ${key.keyId}`);
    if (first === undefined || first.endAt >= startAt) return false;
    const offset = node.steadyOffset(first.endAt);
    if (offset === undefined || startAt + offset < from + CLOCK_STEP_MS) return false;
    return !this.#oracle.keyChangeSteps.some((step) => step >= first.startStep && step <= endStep);
  }

  /** A list is correct if the store held exactly that page at some moment of the request. */
  #checkList(exchange: Exchange, operation: ListOperation): void {
    const { startStep, endStep } = exchange;
    const content = contentOf(exchange);
    if (content === undefined) return;
    const { pets } = this.#oracle;
    const [low, high] = [startStep, endStep].map((step) =>
      this.#oracle.countCommittedBy(pets, step)
    );
    const { link } = content;
    for (let count = high; count >= low; count--) {
      const { body, next } = pageOf(pets.slice(0, count), operation);
      if (content.body === body && nextCursor(link) === next) return;
    }
    this.#report(exchange, `The store never held this page (link ${link}, ${low} to ${high} pets)`);
  }

  #checkGet(exchange: Exchange, { petId }: GetOperation): void {
    const { response, startStep, endStep } = exchange;
    const { status } = response!;
    const { pets } = this.#oracle;
    const pet = pets[petId - 1];
    const body = contentOf(exchange)?.body;
    if (body !== undefined && !(pet !== undefined && pet.step <= endStep && body === pet.petText)) {
      this.#report(exchange, "The pet does not match the log");
    }
    if (status === 404 && pet !== undefined && pet.step <= startStep) {
      this.#report(exchange, "The pet was added before but not found");
    }
  }

  /**
   * Without an Idempotency-Key, a create attempt adds at most one pet. An acknowledged attempt must have
   * added its pet; an attempt that only got refusals must not.
   */
  #checkCreateAttempts(exchanges: Exchange[]): void {
    const creates = exchanges.filter(({ operation }) => operation.kind === "create");
    const createAttempts = Map.groupBy(
      creates,
      ({ operation }) => (operation as CreateOperation).name,
    );
    for (const [name, attempts] of createAttempts) {
      const pets = this.#petsByName.get(name) ?? [];
      const { idempotencyKey } = attempts[0].operation as CreateOperation;
      if (idempotencyKey === undefined && pets.length > 1) {
        this.#report(attempts[0], `The pet was added ${pets.length} times`);
      }
      if (pets.length > 0 && attempts.every(isRefused)) {
        this.#report(attempts[0], "The pet was refused but added");
      }
      for (const attempt of attempts) {
        if (attempt.response?.status === 201) {
          this.#checkCreated(attempt, attempt.operation as CreateOperation);
        }
      }
    }
    for (const name of this.#petsByName.keys()) {
      if (!createAttempts.has(name)) {
        this.#violations.push(`Pet ${shortened(name)} was added without a request`);
      }
    }
  }

  #checkCreated(exchange: Exchange, operation: CreateOperation): void {
    const { response, key, node, startStep, startAt, endStep, endAt } = exchange;
    const { body } = response!;
    const pet = this.#petsByName.get(operation.name)?.find((pet) => pet.petText === body);
    if (pet === undefined || pet.step > endStep) {
      return this.#report(exchange, "The pet was acknowledged but is not in the log");
    }
    const { categoryId, status } = pet.event.data;
    if (categoryId !== operation.categoryId || status !== operation.status) {
      this.#report(exchange, "The added pet differs from the request");
    }
    if (pet.event.actor !== key.keyId) {
      this.#report(exchange, `The actor of the pet is ${pet.event.actor}`);
    }
    if (operation.idempotencyKey === undefined) {
      if (pet.step <= startStep) this.#report(exchange, "The response holds an older pet");
    } else if (pet.event.idempotencykey !== sha256(operation.idempotencyKey)) {
      this.#report(exchange, "The Idempotency-Key was not recorded");
    } else if (pet.step <= startStep) {
      const { earliest } = node.clockBetween(startAt, endAt);
      if (earliest >= idempotencyKeyExpiresAt(pet)) {
        this.#report(exchange, "The Idempotency-Key was used after its expiry");
      }
    }
  }

  /** One Idempotency-Key adds one pet until it expires by the clock of the node that decides. */
  #checkIdempotency(): void {
    const last = new Map<string, CommittedPet>();
    for (const pet of this.#oracle.pets) {
      const { idempotencykey, actor } = pet.event;
      if (idempotencykey === undefined) continue;
      const name = `${actor}/${idempotencykey}`;
      const earlier = last.get(name);
      last.set(name, pet);
      if (earlier === undefined) continue;
      const { latest } = pet.node.clockBetween(pet.at - IN_FLIGHT_LIMIT_MS, pet.at);
      if (latest < idempotencyKeyExpiresAt(earlier)) {
        this.#violations.push(
          `Pets ${earlier.id} and ${pet.id} were added with one Idempotency-Key`,
        );
      }
    }
  }

  #checkKeyCommand({ action, keyId, startStep, endStep }: KeyCommand): void {
    const { issued, ends = [] } = this.#keys.get(keyId) ?? {};
    const isCommitted = action === "issue"
      ? issued !== undefined && issued.step > startStep && issued.step <= endStep
      : ends.some(({ from, step, isEvent }) => {
        const isMatch = (action === "rotate") === (from !== undefined);
        return isEvent && step <= endStep && isMatch;
      });
    if (!isCommitted) {
      this.#violations.push(`The command to ${action} key ${keyId} succeeded without an event`);
    }
  }

  #checkExport({ from, to, lines, startStep, endStep }: Export): void {
    const { lines: committed } = this.#oracle;
    const [low, high] = [startStep, endStep].map((step) =>
      to ?? this.#oracle.countCommittedBy(committed, step)
    );
    const last = from + lines.length - 1;
    if (last < low || last > high) {
      this.#violations.push(`An export from ${from} ends at ${last}, not at ${low} to ${high}`);
    }
    for (const [index, line] of lines.entries()) {
      if (line === committed[from + index - 1]?.text) continue;
      this.#violations.push(`Line ${index + 1} of an export from ${from} differs from the log`);
      return;
    }
  }
}

/** The content that a client has after a read: the body of a 200, or after a 304 the cached content. */
function contentOf({ response, operation }: Exchange) {
  const { status, body, headers } = response!;
  if (status === 200) return { body, link: headers.get("link") };
  return status === 304 ? operation.cached : undefined;
}

/** Clocks show whole milliseconds. */
const CLOCK_STEP_MS = 1;

/** Maximum time between a decision and its commit, in milliseconds. */
const IN_FLIGHT_LIMIT_MS = 30_000;

interface KeyLifetime {
  issued: CommittedLine;
  /**
   * Ends of the key. `from` is the clock time from which an end applies; absent if it applies immediately.
   */
  ends: { from?: number; step: number; isEvent: boolean }[];
}

function keyLifetimes({ lines }: Oracle): Map<string, KeyLifetime> {
  const lifetimes = new Map<string, KeyLifetime>();
  for (const line of lines) {
    const { event: { type, data, time }, step } = line;
    if (type === "ApiKeyIssued") {
      const lifetime: KeyLifetime = { issued: line, ends: [] };
      if (data.expiresAt !== undefined) {
        lifetime.ends.push({ from: Date.parse(data.expiresAt), step, isEvent: false });
      }
      lifetimes.set(data.keyId, lifetime);
    } else if (type === "ApiKeyRevoked") {
      const isAtOnce = Date.parse(data.effectiveAt) <= Date.parse(time);
      const from = isAtOnce ? undefined : Date.parse(data.effectiveAt);
      lifetimes.get(data.keyId)?.ends.push({ from, step, isEvent: true });
    }
  }
  return lifetimes;
}

function isRefused({ response }: Exchange): boolean {
  if (response === undefined || response.status < 400) return false;
  if (response.status < 500) return true;
  return NOTHING_STORED.includes(JSON.parse(response.body).code);
}

/** The expected page of these pets. */
function pageOf(pets: CommittedPet[], { limit = 20, status, cursor }: ListOperation) {
  const all = pets.filter((pet) =>
    (status === undefined || pet.status === status) && (cursor === undefined || pet.id < cursor)
  ).reverse();
  const shown = all.slice(0, limit);
  const body = `[${shown.map((pet) => pet.petText).join(",")}]`;
  return { body, next: all.length > limit ? shown.at(-1)!.id : undefined };
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
