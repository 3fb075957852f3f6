/**
 * Checks the answers that clients got against what the store really holds. It knows the promises of the
 * service, not its code.
 */

import { createHash } from "node:crypto";
import type {
  CreateAsk,
  Exchange,
  Export,
  GetAsk,
  Held,
  History,
  KeyCommand,
  ListAsk,
} from "./history.ts";
import { forgottenAt, type LandedLine, type LandedPet, type Oracle } from "./oracle.ts";
import type { Violations } from "./violations.ts";

/**
 * Maximum time to an answer, in milliseconds.
 * - A read takes two reads of the head (the one under way and the next), one of the key and one of the pets,
 *   each up to 2 seconds.
 * - A create takes two reads of the head, one of the key, and 3.5 seconds for the outcome.
 * - A create with an Idempotency-Key also waits up to 10 seconds for others with the same key, and ends with
 *   a read.
 */
const READ_LIMIT_MS = 8_000 + 100;
const CREATE_LIMIT_MS = 9_500 + 100;
const SAFE_CREATE_LIMIT_MS = CREATE_LIMIT_MS + 10_000 + READ_LIMIT_MS;

/** Error codes of 503 answers that promise that nothing was stored. */
const NOTHING_STORED = ["store_unavailable", "overloaded", "shutting_down"];

export function check(history: History, oracle: Oracle, violations: Violations): void {
  new Checker(oracle, violations).check(history);
}

class Checker {
  #oracle: Oracle;
  #violations: Violations;
  #keys: Map<string, KeyLife>;
  #petsByName = new Map<string, LandedPet[]>();
  /** The first request for which a node accepted a key, by node and key. */
  #firstUses = new Map<string, Exchange>();

  constructor(oracle: Oracle, violations: Violations) {
    this.#oracle = oracle;
    this.#violations = violations;
    this.#keys = keyLives(oracle);
    for (const pet of oracle.pets) {
      const { name } = pet.event.data;
      this.#petsByName.set(name, [...this.#petsByName.get(name) ?? [], pet]);
    }
  }

  check({ exchanges, keyCommands, exports }: History): void {
    for (const exchange of exchanges) {
      this.#checkTime(exchange);
      if (exchange.answer === undefined) continue;
      this.#checkForm(exchange);
      this.#checkCredentials(exchange);
      this.#noteUse(exchange);
      const { ask } = exchange;
      if (ask.kind === "list") this.#checkList(exchange, ask);
      else if (ask.kind === "get") this.#checkGet(exchange, ask);
    }
    this.#checkCreateAttempts(exchanges);
    this.#checkActors();
    this.#checkIdempotency();
    for (const command of keyCommands) this.#checkKeyCommand(command);
    for (const copy of exports) this.#checkExport(copy);
  }

  #fault(exchange: Exchange, what: string): void {
    const { ask, answer, startStep, endStep, machine, bearer } = exchange;
    const key = bearer.kind === "key" ? bearer.keyId : bearer.kind;
    this.#violations.add(
      `${what}: ${
        JSON.stringify(ask)
      } by ${key} at ${machine.name}, steps ${startStep} to ${endStep}, ` +
        `answered ${answer?.status} ${answer?.body}`,
    );
  }

  #checkTime(exchange: Exchange): void {
    const { ask, machine, startAt, endAt } = exchange;
    const limit = ask.kind !== "create"
      ? READ_LIMIT_MS
      : ask.idempotencyKey === undefined
      ? CREATE_LIMIT_MS
      : SAFE_CREATE_LIMIT_MS;
    const took = endAt - startAt - machine.pausedBetween(startAt, endAt);
    if (took > limit) this.#fault(exchange, `no answer for ${took.toFixed(0)} ms`);
  }

  #checkForm(exchange: Exchange): void {
    const { status, headers, body } = exchange.answer!;
    const usual = [200, 201, 304, 400, 401, 404, 409, 422, 503].includes(status);
    if (!usual) this.#fault(exchange, "an answer that is never right");
    if (status === 503 && exchange.undisturbed) {
      this.#fault(exchange, "refused although nothing was wrong");
    }
    if (status === 503 && headers.get("retry-after") === null) {
      this.#fault(exchange, "no Retry-After");
    }
    if (status < 400) return;
    const error = JSON.parse(body);
    if (Object.keys(error).sort().join() !== "code,message,status" || error.status !== status) {
      this.#fault(exchange, "the body is no Error");
    }
  }

  /** The service must accept a key that was valid throughout the request, and refuse one that never was. */
  #checkCredentials(exchange: Exchange): void {
    const { status } = exchange.answer!;
    // A service that cannot read the store cannot check the key. It answers 503.
    if (status === 503) return;
    const { mayStand, mayFall } = this.#standing(exchange);
    if (status === 401 && !mayFall) this.#fault(exchange, "a good key was refused");
    if (status !== 401 && !mayStand) this.#fault(exchange, "a bad key was taken");
  }

  #standing(exchange: Exchange): { mayStand: boolean; mayFall: boolean } {
    const { bearer, machine, startAt, endAt, startStep, endStep } = exchange;
    if (bearer.kind !== "key") return { mayStand: false, mayFall: true };
    const life = this.#keys.get(bearer.keyId);
    if (life === undefined) return { mayStand: false, mayFall: true };
    const { earliest, latest } = machine.clockBetween(startAt, endAt);
    let mayStand = life.issued.step <= endStep;
    let mayFall = life.issued.step > startStep;
    // The node may also have computed the end of a cached key by its clock when it read the key.
    const latestReckoned = Math.max(latest, Math.ceil(endAt + machine.mostAhead(endAt)));
    for (const { from, step } of life.ends) {
      // An immediate end applies from its commit, whatever the clocks show. A later end applies by the node's
      // clock.
      const surely = step <= startStep &&
        (from === undefined || earliest >= from || this.#hasEndedInCache(exchange, from));
      const perhaps = step <= endStep && (from === undefined || latestReckoned >= from);
      if (surely) mayStand = false;
      if (perhaps) mayFall = true;
    }
    return { mayStand, mayFall };
  }

  #noteUse(exchange: Exchange): void {
    const { answer, bearer, machine } = exchange;
    if (bearer.kind !== "key" || answer!.status === 401 || answer!.status === 503) return;
    const name = `${machine.name} ${bearer.keyId}`;
    const first = this.#firstUses.get(name);
    if (first === undefined || exchange.endAt < first.endAt) this.#firstUses.set(name, exchange);
  }

  /**
   * Whether a key ended before the request by the clock that its node had when it cached the key. This is
   * known under two conditions: the clock jumped only after the node accepted the key, and since then no key
   * event or change of the generation made the node read the key again.
   */
  #hasEndedInCache({ bearer, machine, startAt, endStep }: Exchange, from: number): boolean {
    if (bearer.kind !== "key") return false;
    const first = this.#firstUses.get(`${machine.name} ${bearer.keyId}`);
    if (first === undefined || first.endAt >= startAt) return false;
    const offset = machine.steadyOffset(first.endAt);
    if (offset === undefined || startAt + offset < from + CLOCK_STEP_MS) return false;
    return !this.#oracle.keyChangeSteps.some((step) => step >= first.startStep && step <= endStep);
  }

  /** A list is correct if the store held exactly that page at some moment of the request. */
  #checkList(exchange: Exchange, ask: ListAsk): void {
    const { startStep, endStep } = exchange;
    const shown = contentOf(exchange, ask.held);
    if (shown === undefined) return;
    const { pets } = this.#oracle;
    const [low, high] = [startStep, endStep].map((step) => this.#oracle.landedBy(pets, step));
    const { link } = shown;
    for (let count = high; count >= low; count--) {
      const { body, next } = pageOf(pets.slice(0, count), ask);
      if (shown.body === body && cursorOf(link) === next) return;
    }
    this.#fault(exchange, `no such page at any time (link ${link}, ${low} to ${high} pets)`);
  }

  #checkGet(exchange: Exchange, { petId, held }: GetAsk): void {
    const { answer, startStep, endStep } = exchange;
    const { status } = answer!;
    const { pets } = this.#oracle;
    const pet = pets[petId - 1];
    const shown = contentOf(exchange, held)?.body;
    if (shown !== undefined && !(pet !== undefined && pet.step <= endStep && shown === pet.body)) {
      this.#fault(exchange, "a pet that was never there");
    }
    if (status === 404 && pet !== undefined && pet.step <= startStep) {
      this.#fault(exchange, "a pet that was added is not there");
    }
  }

  /**
   * Without an Idempotency-Key, a create attempt adds at most one pet. An acknowledged attempt must have
   * added its pet; an attempt that only got refusals must not.
   */
  #checkCreateAttempts(exchanges: Exchange[]): void {
    const createAttempts = new Map<string, Exchange[]>();
    for (const exchange of exchanges) {
      if (exchange.ask.kind !== "create") continue;
      const { name } = exchange.ask;
      createAttempts.set(name, [...createAttempts.get(name) ?? [], exchange]);
    }
    for (const [name, attempts] of createAttempts) {
      const pets = this.#petsByName.get(name) ?? [];
      const { idempotencyKey } = attempts[0].ask as CreateAsk;
      if (idempotencyKey === undefined && pets.length > 1) {
        this.#fault(attempts[0], `added ${pets.length} times`);
      }
      if (pets.length > 0 && attempts.every(isRefused)) {
        this.#fault(attempts[0], "refused, and added all the same");
      }
      for (const attempt of attempts) {
        if (attempt.answer?.status === 201) this.#checkCreated(attempt, attempt.ask as CreateAsk);
      }
    }
    for (const name of this.#petsByName.keys()) {
      if (!createAttempts.has(name)) this.#violations.add(`nobody asked for the pet ${name}`);
    }
  }

  #checkCreated(exchange: Exchange, ask: CreateAsk): void {
    const { answer, bearer, machine, startStep, startAt, endStep, endAt } = exchange;
    const { body, headers } = answer!;
    const pet = this.#petsByName.get(ask.name)?.find((pet) => pet.body === body);
    if (pet === undefined || pet.step > endStep) {
      return this.#fault(exchange, "acknowledged, and not in the log");
    }
    const { categoryId, status } = pet.event.data;
    if (categoryId !== ask.categoryId || status !== ask.status) {
      this.#fault(exchange, "added as another pet than was asked for");
    }
    if (bearer.kind === "key" && pet.event.actor !== bearer.keyId) {
      this.#fault(exchange, `added in the name of ${pet.event.actor}`);
    }
    if (headers.get("location") !== `/v1/pets/${pet.id}`) {
      this.#fault(exchange, `the location is ${headers.get("location")}`);
    }
    if (ask.idempotencyKey === undefined) {
      if (pet.step <= startStep) this.#fault(exchange, "answered with an older pet");
    } else if (pet.event.idempotencykey !== sha256(ask.idempotencyKey)) {
      this.#fault(exchange, "the Idempotency-Key was not recorded");
    } else if (pet.step <= startStep) {
      const { earliest } = machine.clockBetween(startAt, endAt);
      if (earliest >= forgottenAt(pet)) this.#fault(exchange, "repeated although long forgotten");
    }
  }

  /** No pet's event comes after the immediate revocation of its key or before its issue. */
  #checkActors(): void {
    for (const pet of this.#oracle.pets) {
      const life = this.#keys.get(pet.event.actor);
      const revoked = life?.ends.find(({ from, position }) =>
        from === undefined && position < pet.position
      );
      if (life === undefined || life.issued.position > pet.position || revoked !== undefined) {
        this.#violations.add(`pet ${pet.id} was added by ${pet.event.actor}, which did not stand`);
      }
    }
  }

  /** One Idempotency-Key adds one pet until it expires by the clock of the node that decides. */
  #checkIdempotency(): void {
    const last = new Map<string, LandedPet>();
    for (const pet of this.#oracle.pets) {
      const { idempotencykey, actor } = pet.event;
      if (idempotencykey === undefined) continue;
      const name = `${actor}/${idempotencykey}`;
      const earlier = last.get(name);
      last.set(name, pet);
      if (earlier === undefined) continue;
      const { latest } = pet.machine.clockBetween(pet.at - UNDER_WAY_MS, pet.at);
      if (latest < forgottenAt(earlier)) {
        this.#violations.add(`pets ${earlier.id} and ${pet.id} came of one Idempotency-Key`);
      }
    }
  }

  #checkKeyCommand({ action, keyId, outcome, startStep, endStep }: KeyCommand): void {
    const life = keyId === undefined ? undefined : this.#keys.get(keyId);
    if (outcome !== "done") return;
    const landed = action === "issue"
      ? life !== undefined && life.issued.step > startStep && life.issued.step <= endStep
      : life?.ends.some((end) => {
        const isMeant = action === "rotate" ? end.from !== undefined : end.from === undefined;
        return end.isEvent && end.step <= endStep && isMeant;
      });
    if (!landed) this.#violations.add(`${action} of key ${keyId} was acknowledged and not done`);
  }

  #checkExport({ lines, startStep, endStep }: Export): void {
    const { lines: landed } = this.#oracle;
    const [low, high] = [startStep, endStep].map((step) => this.#oracle.landedBy(landed, step));
    if (lines.length < low || lines.length > high) {
      this.#violations.add(`an export has ${lines.length} lines, not ${low} to ${high}`);
    }
    for (const [index, line] of lines.entries()) {
      if (line === landed[index]?.text) continue;
      return this.#violations.add(`line ${index + 1} of an export is not that of the log`);
    }
  }
}

/**
 * The content that a client has after a read: the body of a 200, or after a 304 the content that it already
 * held.
 */
function contentOf({ answer }: Exchange, held: Held | undefined) {
  const { status, body, headers } = answer!;
  if (status === 200) return { body, link: headers.get("link") };
  return status === 304 ? held : undefined;
}

/** Clocks show whole milliseconds. */
const CLOCK_STEP_MS = 1;

/** Maximum time between a decision and its commit, in milliseconds. */
const UNDER_WAY_MS = 30_000;

interface KeyLife {
  issued: LandedLine;
  /**
   * Ends of the key. `from` is the clock time from which an end applies; absent if it applies immediately.
   */
  ends: { from?: number; step: number; position: number; isEvent: boolean }[];
}

function keyLives({ lines }: Oracle): Map<string, KeyLife> {
  const lives = new Map<string, KeyLife>();
  for (const line of lines) {
    const { event: { type, data, time }, step, position } = line;
    if (type === "ApiKeyIssued") {
      const life: KeyLife = { issued: line, ends: [] };
      if (data.expiresAt !== undefined) {
        life.ends.push({ from: Date.parse(data.expiresAt), step, position, isEvent: false });
      }
      lives.set(data.keyId, life);
    } else if (type === "ApiKeyRevoked") {
      const isAtOnce = Date.parse(data.effectiveAt) <= Date.parse(time);
      const from = isAtOnce ? undefined : Date.parse(data.effectiveAt);
      lives.get(data.keyId)?.ends.push({ from, step, position, isEvent: true });
    }
  }
  return lives;
}

function isRefused({ answer }: Exchange): boolean {
  if (answer === undefined || answer.status < 400) return false;
  if (answer.status < 500) return true;
  return NOTHING_STORED.includes(JSON.parse(answer.body).code);
}

/** The expected page of these pets. */
function pageOf(pets: LandedPet[], { limit = 20, status, cursor }: ListAsk) {
  const all = pets.filter((pet) =>
    (status === undefined || pet.status === status) && (cursor === undefined || pet.id < cursor)
  ).reverse();
  const shown = all.slice(0, limit);
  const body = `[${shown.map((pet) => pet.body).join(",")}]`;
  return { body, next: all.length > limit ? shown.at(-1)!.id : undefined };
}

/** The cursor that a `Link: <…>; rel="next"` names. */
export function cursorOf(link: string | null): number | undefined {
  const target = /<([^>]*)>; rel="next"/.exec(link ?? "")?.[1];
  if (target === undefined) return undefined;
  return Number(new URL(target, "http://localhost").searchParams.get("cursor"));
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
