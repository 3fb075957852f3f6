/** Lets one caller wait until it rings. A ring that nobody waited for ends the next wait at once. */
export class Alarm {
  #hasRung = false;
  #wake = () => {};

  ring(): void {
    this.#hasRung = true;
    this.#wake();
  }

  async wait(): Promise<void> {
    if (!this.#hasRung) await new Promise<void>((resolve) => this.#wake = resolve);
    this.#hasRung = false;
  }
}
