import { type Runtime, sleep } from "../runtime/runtime.ts";

/** Maximum time of a turn, and the rest after so much work if there was a request meanwhile, in milliseconds. */
export const TURN_MS = 3;
export const REST_MS = 9;

/** Work that may take long and must not delay requests: in short turns, between which everything else can run. */
export class BackgroundWork {
  #runtime: Runtime;
  #waiting: (() => void)[] = [];
  #isRunning = false;
  #turnEndsAt = -Infinity;
  /** Time since the last rest. */
  #workedMs = 0;
  #requests = 0;
  /** Whether there was a request since the last rest. */
  #hasRequests = false;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** Resolves when it is the caller's turn, which lasts until the caller waits for anything, or {@linkcode isTurnOver}. */
  turn(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (!this.#isRunning) this.#run();
    });
  }

  get isTurnOver(): boolean {
    return this.#runtime.monotonicNow() >= this.#turnEndsAt;
  }

  /** Keeps most of the thread free for a request, until {@linkcode requestEnded}. A promise would cost each request more. */
  requestBegan(): void {
    this.#requests++;
    this.#hasRequests = true;
  }

  requestEnded(): void {
    this.#requests--;
  }

  async #run(): Promise<void> {
    const { monotonicNow, nextTurn } = this.#runtime;
    this.#isRunning = true;
    for (let begin; (begin = this.#waiting.shift()) !== undefined;) {
      const start = monotonicNow();
      this.#turnEndsAt = start + TURN_MS;
      begin();
      await nextTurn();
      // Others may have run, too.
      this.#workedMs += Math.min(monotonicNow() - start, TURN_MS);
      if (this.#workedMs < TURN_MS) continue;
      // Always, because Deno seldom looks for what has arrived while it has other work, and new turns are work.
      await sleep(this.#runtime, this.#hasRequests ? REST_MS : 0);
      this.#workedMs = 0;
      this.#hasRequests = this.#requests > 0;
    }
    this.#isRunning = false;
  }
}
