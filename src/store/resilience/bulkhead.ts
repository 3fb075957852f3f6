interface WaitingCall {
  admit: (inFlight: InFlight) => void;
  reject: (error: Error) => void;
}

interface InFlight {
  count: number;
}

/** Limits the number of calls in flight. Further calls wait, in the order of their arrival. */
export class Bulkhead {
  #limit: number;
  #inFlight: InFlight = { count: 0 };
  #waiting: WaitingCall[] = [];
  #isPaused = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Makes a call, at once if there is room. */
  async run<T>(call: () => Promise<T>): Promise<T> {
    const inFlight = this.#hasRoom ? this.#enter() : await this.#wait();
    try {
      return await call();
    } finally {
      inFlight.count--;
      this.#admitWaiting();
    }
  }

  /** Makes all further calls wait. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Admits calls again. The calls in flight no longer count, because they may hang forever. */
  resume(): void {
    this.#isPaused = false;
    this.#inFlight = { count: 0 };
    this.#admitWaiting();
  }

  rejectWaiting(error: Error): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  get #hasRoom(): boolean {
    return !this.#isPaused && this.#inFlight.count < this.#limit;
  }

  #enter(): InFlight {
    this.#inFlight.count++;
    return this.#inFlight;
  }

  #wait(): Promise<InFlight> {
    return new Promise((admit, reject) => this.#waiting.push({ admit, reject }));
  }

  #admitWaiting(): void {
    while (this.#waiting.length > 0 && this.#hasRoom) this.#waiting.shift()!.admit(this.#enter());
  }
}
