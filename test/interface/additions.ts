import type { Listener } from "./tell.ts";

/** A request would change something that no story has added. */
export class ForeignTargetError extends Error {}

/** The service gave no response to a request. */
export class NoResponseError extends Error {
  constructor(readonly request: string, cause: unknown) {
    super(`The service gave no response to ${request}`, { cause });
  }
}

/** A request to the service, below its base address. */
interface Call {
  method: string;
  path: string;
  body: string;
}

const READS: readonly string[] = ["GET", "HEAD", "OPTIONS"];

/**
 * Notes what stories add to a service, and removes it. It does not send a request that would change what was there before.
 */
export class Additions {
  /** The same service, whose additions are noted. */
  readonly listener: Listener;
  readonly #service: Listener;
  /** Of animals and categories, below the base address. */
  readonly #paths = new Set<string>();
  /** Categories of additions whose response has no id. They may have been carried out. */
  readonly #unclearCategories = new Set<string>();
  readonly #writes = new Set<Promise<Response>>();

  /** The stories send nothing more after `signal`. */
  constructor(service: Listener, signal?: AbortSignal) {
    this.#service = service;
    const send: typeof fetch = async (input, init) => {
      signal?.throwIfAborted();
      const { method = "GET" } = init ?? {};
      const path = String(input).slice(service.base.length);
      const carry = () =>
        service.send(input, init).catch((error) => {
          throw new NoResponseError(`${method} ${path}`, error);
        });
      if (READS.includes(method)) return await carry();
      const call = { method, path, body: await new Response(init?.body).text() };
      await this.#expectOwn(call);
      signal?.throwIfAborted();
      const writing = this.#write(call, carry());
      this.#writes.add(writing);
      return await writing.finally(() => this.#writes.delete(writing));
    };
    this.listener = { ...service, send };
  }

  /** Throws if a target of the request is there, and was there before. A restore may find a removed one. */
  async #expectOwn({ method, path, body }: Call): Promise<void> {
    const isRestore = method === "POST" &&
      (path.includes("/restore") || /"action":\s*"restore"/.test(body));
    for (const target of [...targetsInPath(path), ...targetsInBatch(body)]) {
      if (this.#paths.has(target)) continue;
      const isFree = await this.#isMissing(isRestore ? `${target}/events` : target);
      if (!isFree) {
        throw new ForeignTargetError(`It would change ${target}, which it has not added`);
      }
    }
  }

  async #write(call: Call, sending: Promise<Response>): Promise<Response> {
    try {
      const response = await sending;
      this.#note(call, response, await response.clone().text());
      return response;
    } catch (error) {
      this.#noteUnclear(call);
      throw error;
    }
  }

  #note(call: Call, { status, ok }: Response, text: string): void {
    const { method, path } = call;
    const [target] = targetsInPath(path);
    if (method === "PUT" && status === 201 && target !== undefined) this.#paths.add(target);
    const isRefused = status >= 400 && status < 500;
    if (method !== "POST" || target !== undefined || isRefused) return;
    const animals = ok ? animalsIn(text) : [];
    for (const { id } of animals) this.#paths.add(`/pets/${id}`);
    if (animals.length === 0) this.#noteUnclear(call);
  }

  #noteUnclear({ method, body }: Call): void {
    if (method !== "POST") return;
    for (const [, category] of body.matchAll(/"categoryId":\s*(-?\d{15,})/g)) {
      this.#unclearCategories.add(category);
    }
  }

  /** Removes them, and resolves to the paths of those that are still there. */
  async remove(): Promise<string[]> {
    await Promise.allSettled(this.#writes);
    for (const category of this.#unclearCategories) await this.#find(category);
    const left: string[] = [];
    for (const path of this.#paths) {
      const isGone = await this.#remove(path).catch(() => false);
      if (!isGone) left.push(path);
    }
    this.#paths.clear();
    this.#unclearCategories.clear();
    return left;
  }

  /** The categories of the stories are so large that no other animals are in them. */
  async #find(category: string): Promise<void> {
    const path = `/pets?limit=100&categoryId=${category}`;
    const response = await this.#answer("GET", path).catch(() => undefined);
    if (response === undefined) return;
    // The service may ignore the filter.
    const own = animalsIn(await response.text()).filter((it) => it.categoryId === category);
    for (const { id } of own) this.#paths.add(`/pets/${id}`);
  }

  async #remove(path: string): Promise<boolean> {
    const response = await this.#answer("DELETE", path);
    await response.body?.cancel();
    return response.status === 204 || await this.#isMissing(path);
  }

  async #isMissing(path: string): Promise<boolean> {
    const response = await this.#answer("GET", path);
    await response.body?.cancel();
    return response.status === 404;
  }

  async #answer(method: string, path: string): Promise<Response> {
    const { base, key, send } = this.#service;
    return await send(`${base}${path}`, { method, headers: { authorization: `Bearer ${key}` } });
  }
}

/** The animal or the category in a path, which may be encoded. */
function targetsInPath(path: string): string[] {
  const [encoded] = path.split("?");
  const plain = encoded.replaceAll(
    /%[0-7][0-9a-f]/gi,
    (code) => String.fromCharCode(parseInt(code.slice(1), 16)),
  );
  const [target] = /^\/(?:pets|categories)\/-?\d+(?![^/])/.exec(plain) ?? [];
  return target === undefined ? [] : [target];
}

/** The animals that the operations of a batch change. */
function targetsInBatch(body: string): string[] {
  const { operations } = parsed(body) as { operations?: unknown };
  if (!Array.isArray(operations)) return [];
  const ids = operations.map((operation) => operation?.petId).filter((id) => id !== undefined);
  return ids.map((id) => `/pets/${id}`);
}

/** An animal in a response, by the digits of its numbers: a number of JavaScript could lose some. */
interface ShownAnimal {
  id: string;
  categoryId?: string;
}

/** The animals in a response: one, those of a list, or those that a batch has added. */
function animalsIn(text: string): ShownAnimal[] {
  const value = parsed(text) as { results?: unknown };
  const results = Array.isArray(value.results) ? value.results : [];
  const added = results.filter((result) => result?.status === 201).map(({ body }) => body);
  const animals = Array.isArray(value) ? value : [value, ...added];
  return animals.filter((animal) => /^\d+$/.test(animal?.id));
}

// TypeScript does not declare the source of a value yet (https://github.com/tc39/proposal-json-parse-with-source).
type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;

const NUMBERS = ["id", "categoryId"];

const asDigits: Reviver = (key, value, { source }) =>
  NUMBERS.includes(key) && typeof value === "number" ? source : value;

/** The value of a JSON text, or an empty object if it has none with members. */
function parsed(text: string): object {
  try {
    return JSON.parse(text, asDigits as (key: string, value: unknown) => unknown) ?? {};
  } catch {
    return {};
  }
}
