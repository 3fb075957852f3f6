import type { Body, Recorded, RecordedLine } from "../definitions.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import { reasonOf } from "../runtime/logger.ts";
import { backoffMs, type Runtime } from "../runtime/runtime.ts";
import { type ConsumerPlace, type Failing, shortReason } from "./consumer_record.ts";
import type { LogTail } from "./log_tail.ts";

/** The first and the longest pause after a failure, in milliseconds. */
const PAUSES = { firstMs: 1_000, limitMs: 300_000 };

/** How long a handler may take to end after its signal was aborted, in milliseconds. Nobody waits longer. */
const ABORT_LIMIT_MS = 1_000;

/** Maximum time of a timer of the system, in milliseconds. It ends a longer one at once. */
const TIMER_LIMIT_MS = 2 ** 31 - 1;

/** The second argument of a handler. */
export interface ConsumerContext {
  /** The line of the event in the log, in UTF-8. */
  line: Uint8Array;
  /** Number of calls with this event that have failed. */
  attempts: number;
  /** When the first of them failed, in UTC. */
  failingSince?: string;
  /** Aborts when another instance may work, or the consumer ends: then stop, because the event comes again. */
  signal: AbortSignal;
}

/** Gets the events in order, each at least once: again if it throws or rejects, and if the instance ends before the place is stored. */
export type ConsumerHandler<EventBody extends Body = Body> = (
  event: Recorded<EventBody>,
  context: ConsumerContext,
) => Promise<void> | void;

/** How a consumer works. */
export interface ConsumerOptions<EventBody extends Body = Body> {
  /** The position after which it begins while it has no place; by default 0, before the first event. */
  after?: number;
  /** The types of the events that it gets; by default all. */
  types?: readonly EventBody["type"][];
  /** The pause after a failure, in milliseconds; by default one second, and twice as long after each, up to five minutes. */
  pauseMs?(attempts: number, error: unknown): number;
}

/** The surroundings of a consumer while this instance works. */
export interface ConsumerHold<EventBody extends Body> {
  tail: LogTail<EventBody>;
  /** The place where the consumer begins; `undefined` if it is stopped. Rejects with the errors of the store. */
  findPlace(): Promise<ConsumerPlace | undefined>;
  /** Whether no other instance may work yet. */
  isHeld(): boolean;
  /** Called after each change of the place. */
  onMoved(): void;
}

/** The work of a consumer from its begin to its end. */
interface Run<EventBody extends Body> extends ConsumerHold<EventBody> {
  controller: AbortController;
  /** Whether the call that is under way is the last one. */
  isEnding: boolean;
}

/** Calls the handler of a consumer. `ConsumerGroup` decides when it works, and where it begins. */
export class Consumer<EventBody extends Body = Body> {
  readonly name: string;
  /** The position after which it begins without a place. */
  readonly after: number;
  /** Whether its instance has removed it, so it never begins again. */
  isRemoved = false;
  /** Why it is stopped although its instance works; `undefined` if it is not. */
  reason: string | undefined;
  /** Its place since this instance has begun to work for it; `undefined` until that is known. */
  place: ConsumerPlace | undefined;
  readonly #handle: ConsumerHandler<EventBody>;
  readonly #types: ReadonlySet<string> | undefined;
  readonly #pauseMs: (attempts: number, error: unknown) => number;
  readonly #runtime: Runtime;
  /** Ends the pause after a failure. */
  #wake = () => {};
  #current: Run<EventBody> | undefined;
  #work: Promise<void> = Promise.resolve();

  /** Does nothing before {@linkcode begin}. */
  constructor(
    name: string,
    handle: ConsumerHandler<EventBody>,
    options: ConsumerOptions<EventBody>,
    runtime: Runtime,
  ) {
    this.name = name;
    this.after = options.after ?? 0;
    this.#handle = handle;
    this.#types = options.types && new Set(options.types);
    this.#pauseMs = options.pauseMs ?? ((attempts) => backoffMs(runtime, attempts - 1, PAUSES));
    this.#runtime = runtime;
  }

  /** Whether this instance calls the handler. */
  get isWorking(): boolean {
    return this.#current !== undefined && this.place !== undefined;
  }

  /** Handles the events after the place that it finds, as soon as an earlier call of the handler has ended. */
  begin(hold: ConsumerHold<EventBody>): void {
    if (this.isRemoved) return;
    this.#current?.controller.abort();
    this.#wake();
    const run = { ...hold, controller: new AbortController(), isEnding: false };
    this.#current = run;
    this.reason = undefined;
    this.place = undefined;
    this.#work = this.#work.then(() => this.#run(run));
  }

  /**
   * Ends the work. The handler has so many milliseconds to end a call that is under way, before its signal aborts.
   * Resolves when the call has ended; if it does not end, soon after its signal was aborted.
   */
  async end(graceMs = 0): Promise<void> {
    const run = this.#current;
    if (run === undefined) return;
    run.isEnding = true;
    this.#wake();
    const hasEnded = graceMs > 0 && await this.#endsWithin(graceMs);
    run.controller.abort();
    if (this.#current === run) this.#current = undefined;
    if (!hasEnded) await this.#endsWithin(ABORT_LIMIT_MS);
  }

  async #endsWithin(ms: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const cancel = this.#runtime.setTimer(ms, () => resolve(false));
    void this.#work.then(() => resolve(true));
    return await promise.finally(cancel);
  }

  /** Ends the pause after a failure. */
  retry(): void {
    this.#wake();
  }

  async #run(run: Run<EventBody>): Promise<void> {
    let failures = 0;
    while (!isOver(run)) {
      try {
        if (this.place === undefined) {
          const place = await run.findPlace();
          if (place === undefined || isOver(run)) return;
          this.place = place;
          run.onMoved();
          // A pause goes on where another run has left it.
          if (place.failing !== undefined) await this.#pause(this.#restOf(place.failing), run);
        }
        const lines = await run.tail.after(this.place.position);
        failures = 0;
        for (const line of lines) {
          if (isOver(run)) return;
          await this.#pass(line, run);
        }
      } catch {
        // The log cannot be read now: the store says so itself.
        await this.#pause(backoffMs(this.#runtime, failures, PAUSES), run);
        failures++;
      }
    }
  }

  /** Handles an event until it succeeds, and moves behind it. */
  async #pass({ event, line }: RecordedLine<EventBody>, run: Run<EventBody>): Promise<void> {
    const { signal } = run.controller;
    const isWanted = this.#types === undefined || this.#types.has(event.type);
    while (isWanted) {
      if (isOver(run)) return;
      const { since: failingSince, attempts = 0 } = this.place?.failing ?? {};
      // A signal for each call, so that what handlers add to it does not pile up.
      const call = new AbortController();
      const abort = () => call.abort();
      signal.addEventListener("abort", abort);
      try {
        await this.#handle(event, { line, attempts, failingSince, signal: call.signal });
        break;
      } catch (error) {
        if (signal.aborted) return;
        const pauseMs = this.#pauseMs(attempts + 1, error);
        this.#noteFailure(error, pauseMs);
        run.onMoved();
        await this.#pause(pauseMs, run);
      } finally {
        signal.removeEventListener("abort", abort);
      }
    }
    if (signal.aborted) return;
    this.place = { position: event.position, hash: sha256Hex(line), named: this.place?.named };
    run.onMoved();
  }

  #noteFailure(error: unknown, pauseMs: number): void {
    const { failing, ...place } = this.place!;
    const lastAt = new Date(this.#runtime.now()).toISOString();
    const since = failing?.since ?? lastAt;
    const attempts = (failing?.attempts ?? 0) + 1;
    const reason = shortReason(textOf(error));
    const stored = Math.round(Math.min(pauseMs, TIMER_LIMIT_MS));
    this.place = { ...place, failing: { since, attempts, reason, lastAt, pauseMs: stored } };
  }

  /** What is left of the pause after the last failure; a clock that was set back makes it no longer. */
  #restOf({ lastAt, pauseMs }: Failing): number {
    const passedMs = this.#runtime.now() - Date.parse(lastAt);
    return Math.min(pauseMs, Math.max(0, pauseMs - passedMs));
  }

  #pause(ms: number, run: Run<EventBody>): Promise<void> {
    if (isOver(run)) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const cancel = this.#runtime.setTimer(Math.min(ms, TIMER_LIMIT_MS), resolve);
    return promise.finally(cancel);
  }
}

function isOver<EventBody extends Body>({ controller, isEnding, isHeld }: Run<EventBody>): boolean {
  return controller.signal.aborted || isEnding || !isHeld();
}

/** A handler may throw an object that has no text. */
function textOf(thrown: unknown): string {
  try {
    return reasonOf(thrown);
  } catch {
    return "It threw a value without a text";
  }
}
