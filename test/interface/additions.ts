import type { Listener } from "./tell.ts";

/** What stories have added to a service, so that nothing of them stays. */
export class Additions {
  /** The same service, whose additions are noted. */
  readonly listener: Listener;
  readonly #paths = new Set<string>();

  constructor(listener: Listener) {
    const send: typeof fetch = async (input, init) => {
      const response = await listener.send(input, init);
      await this.#note(String(input).slice(listener.base.length), init?.method, response.clone());
      return response;
    };
    this.listener = { ...listener, send };
  }

  async #note(path: string, method: string | undefined, response: Response): Promise<void> {
    const text = await response.text();
    if (response.status === 201 && method === "PUT") this.#paths.add(path);
    if (response.status === 201 && path === "/pets") this.#noteAnimals(text);
    if (response.status === 200 && path === "/pets/batch") this.#noteAnimals(text);
  }

  /** Takes the digits of ids from the text: a number of JavaScript could lose some. */
  #noteAnimals(text: string): void {
    for (const [, id] of text.matchAll(/"id":\s*(\d+)/g)) this.#paths.add(`/pets/${id}`);
  }

  /** Removes them, and resolves to the paths of those that cannot be removed. */
  async remove(): Promise<string[]> {
    const left: string[] = [];
    for (const path of this.#paths) {
      const { base, key, send } = this.listener;
      const headers = { authorization: `Bearer ${key}` };
      const response = await send(`${base}${path}`, { method: "DELETE", headers });
      await response.body?.cancel();
      const isGone = response.ok || response.status === 404;
      if (!isGone) left.push(path);
    }
    this.#paths.clear();
    return left;
  }

  get paths(): string[] {
    return [...this.#paths];
  }
}
