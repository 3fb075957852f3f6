import { type Runtime, sleep } from "../runtime/runtime.ts";

/** While there are requests: the maximum time between two rests, and the length of each rest, in milliseconds. */
export const TURN_MS = 3;
export const REST_MS = 9;

/** While it is quiet: the maximum time between two rests, in milliseconds. Even the shortest rest takes a millisecond. */
export const QUIET_TURN_MS = 10;

/**
 * In milliseconds. If no turn ended for this time, the thread counts as rested. If no rest found a request for this
 * time, it counts as quiet.
 */
export const IDLE_MS = 100;

/** `events`: followers that catch up, and sweeps. `pages`: searches, the fill of an index, and compression of long bodies. */
export type BackgroundWorkKind = "events" | "pages";

/** A request, and what {@linkcode BackgroundWork} notes about it. */
export interface ForegroundRequest {
  /** Whether the thread is kept free for it; absent until it began. */
  isForeground?: boolean;
}

/** Work that may take long and must not delay requests: in short turns, between which everything else can run. */
export class BackgroundWork {
  #runtime: Runtime;
  #waiting: Record<BackgroundWorkKind, (() => void)[]> = { events: [], pages: [] };
  #nextKind: BackgroundWorkKind = "events";
  #isRunning = false;
  #restedAt = -Infinity;
  /** When the last rest ended that found that there had been a request. */
  #busyAt = -Infinity;
  #lastTurnAt = -Infinity;
  /** Requests in work. */
  #requests = 0;
  /** Requests since the last rest, with those that were in work then. */
  #requestsSinceRest = 0;
  /** Number of requests that have begun. */
  requestCount = 0;

  /** Measures the turns by the monotonic clock of the runtime. */
  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** Resolves when it is the caller's turn, which lasts until the caller waits for anything, or {@linkcode isRestDue}. */
  turn(kind: BackgroundWorkKind): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting[kind].push(resolve);
      if (!this.#isRunning) this.#run();
    });
  }

  /** Whether the owner of a turn has to end it, because the thread has worked too long without a rest. */
  get isRestDue(): boolean {
    const now = this.#runtime.monotonicNow();
    const isQuiet = this.#requestsSinceRest === 0 && now - this.#busyAt >= IDLE_MS;
    return now - this.#restedAt >= (isQuiet ? QUIET_TURN_MS : TURN_MS);
  }

  /**
   * Keeps most of the thread free for a request, until {@linkcode requestEnded} or {@linkcode requestLeft}. A promise
   * would cost each request more.
   */
  requestBegan(request: ForegroundRequest): void {
    request.isForeground = true;
    this.requestCount++;
    this.#requests++;
    this.#requestsSinceRest++;
  }

  /** Has no effect after {@linkcode requestLeft}, or if it is called again. */
  requestEnded(request: ForegroundRequest): void {
    if (!request.isForeground) return;
    request.isForeground = false;
    this.#requests--;
  }

  /**
   * Call it if a request became work that has turns. The thread is then not kept free for it. A second call has no
   * effect.
   */
  requestLeft(request: ForegroundRequest): void {
    if (!request.isForeground) return;
    request.isForeground = false;
    this.#requests--;
    this.#requestsSinceRest--;
  }

  async #run(): Promise<void> {
    const { monotonicNow, nextTurn } = this.#runtime;
    this.#isRunning = true;
    if (monotonicNow() - this.#lastTurnAt >= IDLE_MS) this.#noteRested();
    let begin = this.#takeNext();
    while (begin !== undefined) {
      // A caller also keeps requests waiting after its turn, for example while it reads the log. So all time counts.
      if (this.isRestDue) await this.#rest();
      begin();
      await nextTurn();
      this.#lastTurnAt = monotonicNow();
      begin = this.#takeNext();
    }
    this.#isRunning = false;
  }

  /** Takes the next caller, of each kind in turn. */
  #takeNext(): (() => void) | undefined {
    const kind = this.#nextKind;
    const other = kind === "events" ? "pages" : "events";
    this.#nextKind = other;
    const queue = this.#waiting[kind].length > 0 ? this.#waiting[kind] : this.#waiting[other];
    return queue.shift();
  }

  async #rest(): Promise<void> {
    // Rest in any case: while Deno has other work, such as new turns, it seldom looks for requests that have arrived.
    await sleep(this.#runtime, 0);
    // A request that has just arrived may have become work with turns meanwhile.
    if (this.#requestsSinceRest > 0) await sleep(this.#runtime, REST_MS);
    this.#noteRested();
  }

  #noteRested(): void {
    this.#restedAt = this.#runtime.monotonicNow();
    if (this.#requestsSinceRest > 0) this.#busyAt = this.#restedAt;
    this.#requestsSinceRest = this.#requests;
  }
}
