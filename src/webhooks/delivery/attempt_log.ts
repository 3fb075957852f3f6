/** The last attempts of each webhook, in records outside of the log: nothing follows from them, and a restore loses them. */

import type { Runtime } from "eventstore-less";
import { changeUnlogged, readUnlogged, type UnloggedName } from "eventstore-less/parts";
import type { Store } from "eventstore-less/store";
import { z } from "zod";
import {
  type Attempt,
  ATTEMPT_ERRORS,
  type AttemptError,
  isConfirmed,
} from "../sending/attempt.ts";

/** Maximum number of attempts that a webhook keeps. */
export const ATTEMPTS_KEPT = 10;

/** Maximum size of the kept answer in JSON, in bytes, so that all attempts fit into a record. */
const ANSWER_LIMIT_BYTES = 4_096;

/** Maximum time until an attempt is stored, in milliseconds. One that failed is stored soon. */
const STORE_MS = { failed: 1_000, confirmed: 10_000 };

/** An attempt to deliver an event, or a test. */
export interface NotedAttempt extends Attempt {
  /** The id of the event in the feed, or that of the test. */
  eventId: string;
}

const NOTED = z.object({
  eventId: z.string(),
  time: z.string(),
  durationMs: z.number(),
  status: z.int().optional(),
  error: z.enum(Object.keys(ATTEMPT_ERRORS) as [AttemptError]).optional(),
  answer: z.string().optional(),
  retryAfterMs: z.number().optional(),
}) satisfies z.ZodType<NotedAttempt>;

/** The latest one first. */
const RECORD = z.array(NOTED).max(ATTEMPTS_KEPT);

interface Waiting {
  /** The latest one first. */
  attempts: NotedAttempt[];
  dueAt: number;
}

export class AttemptLog {
  readonly #deps: { runtime: Runtime; store: Store };
  /** The attempts that are not stored yet, by the ids of their webhooks. */
  readonly #waiting = new Map<string, Waiting>();
  #cancelTimer = () => {};
  #storing: Promise<void> = Promise.resolve();

  constructor(deps: { runtime: Runtime; store: Store }) {
    this.#deps = deps;
  }

  /** The last attempts of a webhook, the latest one first, with those that only this instance knows. */
  async read(webhookId: string): Promise<NotedAttempt[]> {
    const stored = await readUnlogged(this.#deps.store, nameOf(webhookId));
    return latest([...this.#waiting.get(webhookId)?.attempts ?? [], ...attemptsOf(stored)]);
  }

  /** Notes an attempt, which is stored with others soon. */
  note(webhookId: string, attempt: NotedAttempt): void {
    const { runtime } = this.#deps;
    const waitMs = isConfirmed(attempt) ? STORE_MS.confirmed : STORE_MS.failed;
    const dueAt = runtime.monotonicNow() + waitMs;
    const waiting = this.#waiting.get(webhookId) ?? { attempts: [], dueAt };
    this.#waiting.set(webhookId, {
      attempts: [{ ...attempt, answer: shortAnswer(attempt.answer) }, ...waiting.attempts]
        .slice(0, ATTEMPTS_KEPT),
      dueAt: Math.min(waiting.dueAt, dueAt),
    });
    this.#schedule();
  }

  /** Stores the attempts of a webhook at once, so that other instances know them. Never rejects. */
  async storeNow(webhookId: string): Promise<void> {
    const waiting = this.#waiting.get(webhookId);
    if (waiting !== undefined) this.#waiting.set(webhookId, { ...waiting, dueAt: -Infinity });
    await this.#storeDue();
  }

  /** Stores all attempts that were noted. Never rejects. */
  async flush(): Promise<void> {
    await this.#store(Infinity);
    this.#cancelTimer();
  }

  /** Removes the attempts of a webhook. Rejects with the errors of the store. */
  async remove(webhookId: string): Promise<void> {
    this.#waiting.delete(webhookId);
    await this.#storing;
    await changeUnlogged(this.#deps, nameOf(webhookId), () => undefined);
  }

  #schedule(): void {
    this.#cancelTimer();
    const times = [...this.#waiting.values()].map(({ dueAt }) => dueAt);
    if (times.length === 0) return;
    const { runtime } = this.#deps;
    const ms = Math.max(0, Math.min(...times) - runtime.monotonicNow());
    this.#cancelTimer = runtime.setTimer(ms, () => void this.#storeDue());
  }

  async #storeDue(): Promise<void> {
    await this.#store(this.#deps.runtime.monotonicNow());
    this.#schedule();
  }

  /** Stores the attempts that are due. */
  #store(time: number): Promise<void> {
    this.#storing = this.#storing.then(async () => {
      const due = [...this.#waiting].filter(([, { dueAt }]) => dueAt <= time);
      await Promise.all(due.map(([id, { attempts }]) => this.#storeOf(id, attempts)));
    });
    return this.#storing;
  }

  async #storeOf(webhookId: string, attempts: readonly NotedAttempt[]): Promise<void> {
    this.#waiting.delete(webhookId);
    const add = (stored: unknown) => latest([...attempts, ...attemptsOf(stored)]);
    // Nothing follows from them, so they are lost if the store is away.
    await changeUnlogged(this.#deps, nameOf(webhookId), add).catch(() => {});
  }
}

function nameOf(webhookId: string): UnloggedName {
  return ["webhook_attempts", webhookId];
}

function attemptsOf(stored: unknown): NotedAttempt[] {
  return RECORD.safeParse(stored).data ?? [];
}

/**
 * The latest attempts, each once: a change of the record may be made twice. They stay in the order in which they were noted,
 * because clocks can be wrong.
 */
function latest(attempts: NotedAttempt[]): NotedAttempt[] {
  const byKey = new Map(attempts.map((it) => [`${it.time} ${it.eventId}`, it]));
  return [...byKey.values()].slice(0, ATTEMPTS_KEPT);
}

/** The beginning of an answer whose JSON has no more bytes than the record has room for. */
function shortAnswer(answer: string | undefined): string | undefined {
  let short = answer;
  while (short !== undefined && JSON.stringify(short).length > ANSWER_LIMIT_BYTES) {
    short = short.slice(0, short.length / 2);
  }
  return short;
}
