/** The requests of clients and the commands of operators, drawn from the seed. */

import { createHash } from "node:crypto";
import type { Service } from "../../src/service.ts";
import type { Code } from "./code.ts";
import { cursorOf } from "./checker.ts";
import type { SimulatedStore } from "./connection.ts";
import type { Circumstances, Fleet, RetryingCircumstances } from "./fleet.ts";
import type { Ask, Bearer, CreateAsk, Exchange, Held, KeyCommand, ListAsk } from "./history.ts";
import type { Random } from "./random.ts";

export interface KeyInUse {
  keyId: string;
  token: string;
  /** Whether operators never revoke the key, so that a valid key always exists. */
  isKept: boolean;
}

/** State that all clients and operators share. */
export interface Crowd {
  fleet: Fleet;
  code: Code;
  keys: KeyInUse[];
  /** The newest pet id that a client has received. */
  newestPetId: number;
  /** Requests with an Idempotency-Key, and their senders. */
  safeAttempts: { ask: CreateAsk; bearer: Bearer }[];
}

const STATUSES = ["available", "pending", "sold"];

/** Range of the time that a client waits for an answer before it retries, in milliseconds. */
const RETRY_LIMIT_MS = { low: 200, high: 12_000 };

/** Runs one client that performs `count` actions in sequence. */
export async function runClient(crowd: Crowd, name: string, count: number): Promise<void> {
  const random = crowd.fleet.world.random.fork();
  const client = new Client(crowd, name, random);
  const haste = random.pick([1, 10, 100, 1_000]);
  for (let number = 0; number < count; number++) {
    await crowd.fleet.world.sleep(random.between(0, 2 * haste));
    await client.act(number);
  }
}

class Client {
  #crowd: Crowd;
  #name: string;
  #random: Random;
  /** The preferred instance, as with sticky sessions of a load balancer. */
  #home: number;
  /** Answers to earlier reads, by request. */
  #held = new Map<string, Held>();

  constructor(crowd: Crowd, name: string, random: Random) {
    this.#crowd = crowd;
    this.#name = name;
    this.#random = random;
    this.#home = random.integer(0, crowd.fleet.size - 1);
  }

  async act(number: number): Promise<void> {
    const random = this.#random;
    const action = random.weighted({
      create: 5,
      createSafely: 4,
      createAgain: 1,
      burst: 1,
      list: 5,
      get: 3,
      walk: 1,
      invalid: 0.5,
    });
    const name = `${this.#name}-${number}`;
    switch (action) {
      case "create":
        return void await this.#send(this.#createAttempt(name));
      case "invalid":
        return void await this.#send({ ...this.#createAttempt(name), invalid: true });
      case "createSafely":
        return await this.#createSafely(name);
      case "burst":
        return void await Promise.all(
          Array.from(
            { length: random.integer(2, 12) },
            (_, index) => this.#send(this.#createAttempt(`${name}-${index}`)),
          ),
        );
      case "createAgain": {
        // This may be the next day, when the Idempotency-Key has expired and adds another pet.
        if (this.#crowd.safeAttempts.length === 0) return;
        const { ask, bearer } = random.pick(this.#crowd.safeAttempts);
        return void await this.#send(ask, bearer);
      }
      case "list":
        return void await this.#send(this.#listAsk());
      case "get": {
        const petId = random.integer(1, this.#crowd.newestPetId + 2);
        return void await this.#send({ kind: "get", petId });
      }
      case "walk":
        return await this.#walk();
    }
  }

  #createAttempt(name: string): CreateAsk {
    const random = this.#random;
    const status = random.chance(0.3) ? undefined : random.pick(STATUSES);
    const createAttempt: CreateAsk = { kind: "create", name, categoryId: random.integer(-5, 5) };
    return status === undefined ? createAttempt : { ...createAttempt, status };
  }

  #listAsk(): ListAsk {
    const random = this.#random;
    const earlier = [...this.#held.keys()].filter((text) => text.includes(`"list"`));
    if (earlier.length > 0 && random.chance(0.3)) return JSON.parse(random.pick(earlier));
    const ask: ListAsk = { kind: "list" };
    if (random.chance(0.6)) ask.limit = random.pick([1, 2, 5, 100]);
    if (random.chance(0.5)) ask.status = random.pick(STATUSES);
    if (random.chance(0.3)) ask.cursor = random.integer(1, this.#crowd.newestPetId + 3);
    return ask;
  }

  /**
   * Retries with the same Idempotency-Key until it knows the outcome. Sometimes sends two requests at once.
   */
  async #createSafely(name: string): Promise<void> {
    const random = this.#random;
    const ask: CreateAsk = { ...this.#createAttempt(name), idempotencyKey: `key-of-${name}` };
    const bearer = this.#bearer();
    this.#crowd.safeAttempts.push({ ask, bearer });
    for (let attempt = 0; attempt < 6; attempt++) {
      const sent = this.#send(ask, bearer);
      if (random.chance(0.2)) void this.#send(ask, bearer);
      const patience = this.#crowd.fleet.world.sleep(
        random.between(RETRY_LIMIT_MS.low, RETRY_LIMIT_MS.high),
      );
      const exchange = await Promise.race([sent, patience]);
      const status = exchange?.answer?.status;
      if (status !== undefined && status !== 503 && status !== 409) break;
      await this.#crowd.fleet.world.sleep(random.between(0, 500));
    }
    // A client may repeat the request much later, or reuse the key for another pet.
    if (random.chance(0.3)) await this.#send(ask, bearer);
    if (random.chance(0.15)) {
      await this.#send(
        { ...this.#createAttempt(`${name}-other`), idempotencyKey: ask.idempotencyKey },
        bearer,
      );
    }
  }

  /**
   * Follows the links through the catalogue. The checker checks each page; this method checks their sequence.
   */
  async #walk(): Promise<void> {
    const random = this.#random;
    const ask: ListAsk = { kind: "list", limit: random.pick([1, 2, 5, 20]) };
    if (random.chance(0.5)) ask.status = random.pick(STATUSES);
    const bearer = this.#bearer();
    let last = Infinity;
    for (let page = 0; page < 12; page++) {
      const exchange = await this.#send(ask, bearer);
      // A 304 confirms the content that the client already held.
      const shown = exchange?.answer?.status === 304
        ? this.#held.get(JSON.stringify(ask))!
        : exchange?.answer?.status === 200
        ? { body: exchange.answer.body, link: exchange.answer.headers.get("link") }
        : undefined;
      if (shown === undefined) return;
      for (const { id } of JSON.parse(shown.body)) {
        const isNext = ask.status === undefined ? last === Infinity || id === last - 1 : id < last;
        if (!isNext) {
          this.#crowd.fleet.violations.add(
            `pet ${id} follows pet ${last} on the way through pages`,
          );
        }
        last = id;
      }
      const cursor = cursorOf(shown.link);
      if (cursor === undefined) return;
      ask.cursor = cursor;
    }
  }

  async #send(ask: Ask, bearer = this.#bearer()): Promise<Exchange | undefined> {
    const random = this.#random;
    const { fleet } = this.#crowd;
    const slot = random.chance(0.7) ? this.#home : random.integer(0, fleet.size - 1);
    const exchange = await fleet.send(slot, this.#withHeld(ask), bearer);
    if (exchange === undefined) {
      await fleet.world.sleep(50);
      return undefined;
    }
    const { answer } = exchange;
    const etag = answer?.headers.get("etag");
    if (answer?.status === 200 && typeof etag === "string") {
      const held = { etag, body: answer.body, link: answer.headers.get("link") };
      this.#held.set(JSON.stringify(ask), held);
    }
    if (answer?.status === 201) {
      this.#crowd.newestPetId = Math.max(this.#crowd.newestPetId, JSON.parse(answer.body).id);
    }
    return exchange;
  }

  /** A copy of the request, so that a later change by the caller does not change the history. */
  #withHeld(ask: Ask): Ask {
    const held = this.#held.get(JSON.stringify(ask));
    return ask.kind === "create" || held === undefined ? { ...ask } : { ...ask, held };
  }

  #bearer(): Bearer {
    const random = this.#random;
    if (random.chance(0.02)) return { kind: "nobody" };
    if (random.chance(0.02)) return { kind: "stranger", token: `pets_${"0".repeat(72)}` };
    const { keys } = this.#crowd;
    // Clients may keep using a key after its revocation.
    const { keyId, token } = random.chance(0.4) ? random.pick(keys) : keys[0];
    return { kind: "key", keyId, token };
  }
}

/** Runs one operator that gives `count` commands in sequence. */
export async function runOperator(crowd: Crowd, count: number): Promise<void> {
  const { fleet } = crowd;
  const random = fleet.world.random.fork();
  const haste = random.pick([50, 500, 3_000]);
  const isReplayer = random.chance(0.5);
  for (let number = 0; number < count; number++) {
    await fleet.world.sleep(random.between(0, 2 * haste));
    const circumstances: Circumstances = random.chance(0.4)
      ? { slot: random.integer(0, fleet.size - 1) }
      : random.chance(0.2)
      ? { diesAfterMs: random.between(0, 50) }
      : {};
    const candidates = crowd.keys.filter(({ isKept }) => !isKept);
    const action = random.weighted({
      issue: 3,
      revoke: 3,
      rotate: 2,
      retire: 0.5,
      export: 1,
      audit: 1,
      replay: isReplayer ? 5 : 0,
    });
    if (action === "export") await exportLog(crowd, circumstances);
    else if (action === "audit") await auditStore(crowd);
    else if (action === "replay") {
      const trouble = drawTrouble(random);
      const replaying = replayLog(crowd, trouble);
      if (random.chance(0.5)) readMeanwhile(crowd, random);
      // An operator who sees a stalled replay starts another one.
      if (trouble.pause !== undefined) await replayLog(crowd);
      await replaying;
    } else if (action === "issue" || candidates.length === 0) {
      const lifetimeMs = random.chance(0.3) ? random.between(100, 20_000) : undefined;
      await issue(crowd, { lifetimeMs, circumstances });
    } else {
      const key = random.pick(candidates);
      const end = action === "revoke"
        ? revoke(crowd, key.keyId, circumstances)
        : action === "retire"
        ? retire(crowd, key, random, circumstances)
        : rotate(crowd, key.keyId, random.pick([0, 100, 20_000]), circumstances);
      if (random.chance(0.5)) useKeyMeanwhile(crowd, key, circumstances.slot, random);
      await end;
      if (random.chance(0.5)) await useKeyAgain(crowd, key);
    }
  }
}

/** Draws the fate of a replay. It is often killed, or paused for so long that others consider it dead. */
function drawTrouble(random: Random): RetryingCircumstances {
  const afterMs = random.between(0, random.pick([5, 50, 14_000]));
  switch (random.weighted({ nothing: 3, death: 4, pause: 3 })) {
    case "nothing":
      return {};
    case "death":
      return { diesAfterMs: afterMs };
    case "pause":
      return { pause: { afterMs, ms: random.between(5_000, 60_000) } };
  }
}

/**
 * Creates pets with a key during its revocation, sometimes in the same queue. The pets are all different, or
 * all the same under one Idempotency-Key.
 */
function useKeyMeanwhile(
  { fleet }: Crowd,
  { keyId, token }: KeyInUse,
  slot: number | undefined,
  random: Random,
): void {
  const name = `meanwhile-${keyId}-${fleet.world.step}`;
  const isSame = random.chance(0.5);
  const target = slot ?? random.integer(0, fleet.size - 1);
  const spanMs = random.pick([5, 50, 500]);
  for (let index = 0; index < 8; index++) {
    const ask: CreateAsk = isSame
      ? { kind: "create", name, categoryId: 1, idempotencyKey: name }
      : { kind: "create", name: `${name}-${index}`, categoryId: index };
    fleet.world.after(index === 0 ? 0 : random.between(0, spanMs), () => {
      fleet.send(target, ask, { kind: "key", keyId, token });
    });
  }
}

/**
 * Sends reads that no instance has cached while a replay changes the generations. Sometimes the node pauses
 * in between, and resumes when the old generation is gone.
 */
function readMeanwhile({ fleet, keys, newestPetId }: Crowd, random: Random): void {
  const [{ keyId, token }] = keys;
  const slot = random.integer(0, fleet.size - 1);
  const spanMs = random.pick([50, 200, 1_000]);
  for (let index = 0; index < 20; index++) {
    const ask: ListAsk = {
      kind: "list",
      limit: random.integer(1, 100),
      status: random.pick(STATUSES),
      cursor: random.integer(1, newestPetId + 1),
    };
    fleet.world.after(random.between(0, spanMs), () => {
      fleet.send(slot, ask, { kind: "key", keyId, token });
    });
  }
  if (!random.chance(0.3)) return;
  fleet.world.after(random.between(0, spanMs), () => {
    fleet.machineOf(slot)?.pause(random.between(10_000, 16_000));
  });
}

/** Repeats a request of the key on every instance after its revocation. */
async function useKeyAgain({ fleet, safeAttempts }: Crowd, { keyId }: KeyInUse): Promise<void> {
  const createAttempt = safeAttempts.find(({ bearer }) =>
    bearer.kind === "key" && bearer.keyId === keyId
  );
  if (createAttempt === undefined) return;
  await Promise.all(
    // Send each twice at once, so that one shares the other's outcome.
    Array.from({ length: 2 * fleet.size }, (_, index) => {
      return fleet.send(Math.floor(index / 2), createAttempt.ask, createAttempt.bearer);
    }),
  );
}

/** Issues a key and gives it to the clients if the command succeeds. */
export async function issue(
  crowd: Crowd,
  options: { lifetimeMs?: number; circumstances?: Circumstances; isKept?: boolean } = {},
): Promise<void> {
  const { fleet, code, keys } = crowd;
  const { lifetimeMs, circumstances, isKept = false } = options;
  const issued = await commandKeys(
    crowd,
    "issue",
    (service) =>
      code.issueKey(service, {
        label: `key ${keys.length}`,
        ...(lifetimeMs === undefined ? {} : { expiresAt: service.runtime.now() + lifetimeMs }),
      }),
    ({ id }) => id,
    circumstances,
  );
  if (issued !== undefined) keys.push({ keyId: issued.id, token: issued.token, isKept });
  else if (isKept) fleet.violations.add("the first key of all could not be issued");
}

async function revoke(crowd: Crowd, keyId: string, circumstances: Circumstances): Promise<void> {
  const revoking = async (service: Service) => {
    const key = await crowd.code.revokeKey(service, keyId);
    if (key === undefined) crowd.fleet.violations.add(`key ${keyId} was issued, and is not found`);
  };
  await commandKeys(crowd, "revoke", revoking, () => keyId, circumstances);
}

/** Rotates a key. The command refuses a key that is no longer valid or already has a successor. */
async function rotate(
  crowd: Crowd,
  keyId: string,
  overlapMs: number,
  circumstances: Circumstances,
): Promise<void> {
  const { code, keys } = crowd;
  const rotating = (service: Service) => code.rotateKey(service, keyId, { overlapMs });
  const action = overlapMs === 0 ? "revoke" : "rotate";
  const rotation = await commandKeys(crowd, action, rotating, () => keyId, circumstances);
  if (rotation === undefined) return;
  const { id, token } = rotation.successor;
  keys.push({ keyId: id, token, isKept: false });
}

/** Revokes a key several times with later effect, as the log of another version may contain. */
async function retire(
  crowd: Crowd,
  { keyId, token }: KeyInUse,
  random: Random,
  circumstances: Circumstances,
): Promise<void> {
  const delaysMs = Array.from({ length: 3 }, () => random.between(100, 20_000));
  const retiring = ({ appender, runtime }: Service) => {
    const now = runtime.now();
    const tokenHash = createHash("sha256").update(token).digest("hex");
    const revocations = delaysMs.map((delayMs) => ({
      id: runtime.newId(),
      time: new Date(now).toISOString(),
      actor: "operator",
      type: "ApiKeyRevoked" as const,
      data: { keyId, tokenHash, effectiveAt: new Date(now + delayMs).toISOString() },
    }));
    return appender.append({ prepare() {}, decide: () => revocations });
  };
  await commandKeys(crowd, "rotate", retiring, () => keyId, circumstances);
}

/** Runs a command and records its outcome. */
async function commandKeys<T>(
  { fleet }: Crowd,
  action: KeyCommand["action"],
  run: (service: Service) => Promise<T>,
  keyIdOf: (value: T) => string,
  circumstances?: Circumstances,
): Promise<T | undefined> {
  const startStep = fleet.world.step;
  const { outcome, value } = await fleet.command(action, run, circumstances);
  const keyId = outcome === "done" ? keyIdOf(value!) : undefined;
  const endStep = fleet.world.step;
  fleet.history.keyCommands.push({ action, keyId, startStep, endStep, outcome });
  return value;
}

export async function exportLog(
  { fleet, code }: Crowd,
  circumstances?: Circumstances,
): Promise<string[]> {
  const startStep = fleet.world.step;
  const lines: string[] = [];
  const { outcome, reason } = await fleet.command("export", async ({ store, heads }) => {
    const { position } = (await heads.fresh()).head;
    for await (const batch of code.readWholeLog(store, { from: 1, to: position })) {
      lines.push(...batch.map(textOf));
    }
  }, circumstances);
  refuseDamage(fleet, reason);
  const endStep = fleet.world.step;
  if (outcome === "done") fleet.history.exports.push({ lines, startStep, endStep });
  return lines;
}

/**
 * Time after the end of the faults within which followLog() must have read the whole log, in milliseconds.
 */
const FOLLOW_LIMIT_MS = 20_000;

/** Follows the log from its first line until some time after `isOver`. Every line must be at its position. */
export async function followLog({ fleet, code }: Crowd, isOver: () => boolean): Promise<void> {
  const { world } = fleet;
  const lines: string[] = [];
  const stop = new AbortController();
  const following = fleet.command("follow", async ({ store, heads, runtime }) => {
    const parts = { store, heads, runtime, reachable: () => {} };
    for await (const batch of code.followLog(parts, { from: 1, signal: stop.signal })) {
      lines.push(...batch.map(textOf));
    }
  });
  while (!isOver()) await world.sleep(100);
  const startStep = world.step;
  await world.sleep(FOLLOW_LIMIT_MS);
  stop.abort();
  const { outcome, reason } = await following;
  if (outcome !== "done") fleet.violations.add(`the log could not be followed: ${reason}`);
  fleet.history.exports.push({ lines, startStep, endStep: world.step });
}

/** Runs an audit. If it completes, it must find no fault, even with concurrent writes. */
export async function auditStore(
  { fleet, code }: Crowd,
  { isRequired = false, site = fleet.site }: { isRequired?: boolean; site?: SimulatedStore } = {},
): Promise<void> {
  const { oracle, violations, world } = fleet;
  const from = oracle.landedBy(oracle.lines, world.step);
  const { outcome, value, reason } = await fleet.retryingCommand(
    "audit",
    (parts) => code.audit({ ...parts, readExpiringRecords: () => site.model.expiringRecords() }),
    { site },
  );
  if (outcome !== "done") {
    if (isRequired) violations.add(`the audit cannot run: ${reason}`);
    return;
  }
  const { sound, position, faults } = value!;
  if (!sound) violations.add(`the audit finds ${JSON.stringify(faults.slice(0, 3))}`);
  if (position < from || position > oracle.lines.length) {
    violations.add(`the audit ends at ${position}, when ${from} lines were there`);
  }
}

/**
 * Runs a replay. It must find no differences in the old projections, or fail because another replay is
 * running.
 */
export async function replayLog(
  { fleet, code }: Crowd,
  circumstances: RetryingCircumstances = {},
  isRequired = false,
): Promise<void> {
  const { violations } = fleet;
  const replaying = (parts: Parameters<Code["replay"]>[0]) => code.replay(parts);
  const { outcome, value, reason } = await fleet.retryingCommand(
    "replay",
    replaying,
    circumstances,
  );
  if (outcome === "done") {
    const { total, counts, first } = value!.differences;
    if (total > 0) {
      violations.add(`a replay finds ${JSON.stringify(counts)}, as ${JSON.stringify(first)}`);
    }
  } else if (isRequired) violations.add(`the replay cannot run: ${reason}`);
  refuseDamage(fleet, reason);
}

/** Reports a violation if a command claims damage, because the store was never damaged. */
function refuseDamage({ violations }: Fleet, reason: unknown): void {
  const name = reason instanceof Error ? reason.name : undefined;
  if (name === "UnsoundError" || name === "LogDamagedError") violations.add(`damage: ${reason}`);
}

function textOf({ value }: { value: Uint8Array }): string {
  return new TextDecoder().decode(value);
}
