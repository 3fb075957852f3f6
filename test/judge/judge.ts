/**
 * Records the requests and answers of clients of real instances, some of which are killed, and lets Porcupine judge
 * whether they are linearizable (https://github.com/anishathalye/porcupine).
 */

import { type audit } from "../support/tools.ts";
import { assertEquals } from "@std/assert";
import { setTimeout as sleep } from "node:timers/promises";
import { PET_STATUSES } from "../../events/pet.ts";
import { entityTag } from "../../src/api/conditional_read.ts";
import { LIMIT_MAX } from "../../src/api/requests/page_limit.ts";
import { pick } from "../support/load_client.ts";
import type { ServiceProcess } from "../support/service_process.ts";
import { expectDone, run } from "../support/third_party_tools.ts";

export interface Engine extends AsyncDisposable {
  token: string;
  instances: number;
  /** Starts an instance, after a number of kills. */
  start(kills: number): Promise<ServiceProcess>;
  /** Kills only a part of an instance. */
  killPart?(instance: ServiceProcess): void;
  /** A failure of the store itself, with its repair. */
  fail?(): Promise<void>;
  audit(): ReturnType<typeof audit>;
}

const CHECKER = new URL("check_history/", import.meta.url).pathname;
const CACHE = new URL("../../.cache/judge", import.meta.url).pathname;
const HISTORY = `${CACHE}/history.json`;

const CLIENTS = 8;

/** Operations between a kill, a failure of the store and the next kill. */
const OPERATIONS = 300;

/** Maximum time from a kill to the next start. */
const DOWN_MS = 300;

/** A client repeats a request without an answer after this time. */
const ANSWER_LIMIT_MS = 3_000;
const PAUSE_MS = 10;

/** Only the newest pets are changed, so that clients meet. */
const CHANGED_PETS = 12;

const STATUSES = [...PET_STATUSES, undefined];

/** Its fields are those that the checker describes. `undefined` is a read without an answer, which says nothing. */
type Operation = Record<string, unknown> | undefined;

export function installChecker(): Promise<unknown> {
  const env = { GOBIN: CACHE, GOFLAGS: "-buildvcs=false" };
  return expectDone("go", ["install", "."], { cwd: CHECKER, env });
}

/** Records a history during which instances are killed, each one started again. Resolves to Porcupine's verdict. */
export async function judge(engine: Engine, kills: number, operations = OPERATIONS) {
  const first = Array.from({ length: engine.instances }, () => engine.start(0));
  const services = await Promise.all(first);
  const history: Operation[] = [];
  let isOver = false;
  const running = record(history, services, engine.token, () => isOver);
  const more = async () => {
    const wanted = history.length + operations;
    // It rejects if an answer is none of the expected ones.
    while (history.length < wanted) await Promise.race([running, sleep(PAUSE_MS)]);
  };
  try {
    await more();
    for (let kill = 1; kill <= kills; kill++) {
      const victim = Math.floor(Math.random() * services.length);
      if (engine.killPart !== undefined) engine.killPart(services[victim]);
      else await services[victim].stop("SIGKILL");
      await sleep(Math.random() * DOWN_MS);
      services[victim] = await engine.start(kill);
      await more();
      if (engine.fail === undefined || kill % 2 > 0) continue;
      await engine.fail();
      await more();
    }
  } finally {
    isOver = true;
    await running.finally(() => Promise.all(services.map((it) => it.stop("SIGKILL"))));
  }
  const begin = performance.now();
  await Deno.writeTextFile(HISTORY, JSON.stringify(history));
  const verdict = (await run(`${CACHE}/check_history`, [HISTORY])).output.trim();
  const seconds = ((performance.now() - begin) / 1_000).toFixed(1);
  const summary = `${history.length} operations, ${kills} kills: ${verdict} in ${seconds} s`;
  return { verdict, summary };
}

/** Clients repeat each write until its outcome is known, so the outcome of each operation in the history is clear. */
async function record(
  history: Operation[],
  services: readonly ServiceProcess[],
  token: string,
  isOver: () => boolean,
): Promise<void> {
  /** The texts of pets in the latest answers to writes; the pet with id N is at N-1. */
  const known: string[] = [];
  let writes = 0;

  /**
   * Resolves to `undefined` after a lost answer or a 503, which leave the outcome open. The text of any other error is
   * recorded as that of a pet, so a history with it is not linearizable.
   */
  const send = async (path: string, { headers, ...init }: RequestInit = {}) => {
    try {
      const response = await fetch(`${pick(services).address}/v1/pets${path}`, {
        ...init,
        headers: { authorization: `Bearer ${token}`, ...headers as Record<string, string> },
        signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
      });
      const text = await response.text();
      return response.status === 503 ? undefined : { status: response.status, text };
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof DOMException)) throw error;
    }
  };

  const write = async (method: string, path: string, json: object, fields = {}) => {
    const own = { "content-type": "application/json", "idempotency-key": crypto.randomUUID() };
    const init = { method, headers: { ...own, ...fields }, body: JSON.stringify(json) };
    for (;; await sleep(PAUSE_MS)) {
      const answer = await send(path, init);
      if (answer !== undefined) return answer;
    }
  };

  const add = async (): Promise<Operation> => {
    const categoryId = ++writes;
    const pet = { name: `Animal ${categoryId}`, categoryId, status: pick(STATUSES) };
    const { status, text } = await write("POST", "", pet);
    const { id } = JSON.parse(text);
    assertEquals([status, text], [201, JSON.stringify({ id, ...pet })]);
    known[id - 1] ??= text;
    return { kind: "add", text };
  };

  const pickKnown = () => pick(known.slice(-CHANGED_PETS).filter((text) => text !== undefined));

  /** No two changes set the same category, so a pet never has an earlier text again. */
  const change = async (): Promise<Operation> => {
    const expected = pickKnown();
    const { id, name } = JSON.parse(expected);
    const pet = { id, name, categoryId: ++writes, status: pick(STATUSES) };
    const patch = { categoryId: pet.categoryId, status: pet.status ?? null };
    const fields = { "if-match": entityTag(expected) };
    const { status, text } = await write("PATCH", `/${id}`, patch, fields);
    if (status !== 200) return { kind: "change", id, expected, text: outcomeOf(status, text) };
    assertEquals(text, JSON.stringify(pet));
    known[id - 1] = text;
    return { kind: "change", id, expected, text };
  };

  const remove = async (): Promise<Operation> => {
    const expected = pickKnown();
    const { id } = JSON.parse(expected);
    const { status, text } = await write("DELETE", `/${id}`, {}, {
      "if-match": entityTag(expected),
    });
    return { kind: "remove", id, expected, text: outcomeOf(status, text) };
  };

  const get = async (): Promise<Operation> => {
    const id = Math.max(1, known.length + 1 - Math.floor(Math.random() * CHANGED_PETS));
    const answer = await send(`/${id}`);
    if (answer === undefined) return;
    return { kind: "get", id, text: outcomeOf(answer.status, answer.text) };
  };

  const listSome = (): Promise<Operation> => {
    const newest = known.length;
    // Few cursors, so that pages are read again.
    const cursor = pick([undefined, newest + 1, newest - newest % CHANGED_PETS + 1]);
    return list({ status: pick(STATUSES), limit: pick([1, 5, 20]), cursor });
  };

  const list = async (query: Record<string, unknown>): Promise<Operation> => {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const answer = await send(`?${given.map((parameter) => parameter.join("=")).join("&")}`);
    if (answer === undefined) return;
    const pets = answer.status === 200
      ? JSON.parse(answer.text).map((pet: unknown) => JSON.stringify(pet))
      : [answer.text];
    return { kind: "list", ...query, pets };
  };

  /** Resolves to whether the operation had an answer. */
  const perform = async (act: () => Promise<Operation>): Promise<boolean> => {
    const call = now();
    const operation = await act();
    if (operation === undefined) await sleep(PAUSE_MS);
    else history.push({ ...operation, call, return: now() });
    return operation !== undefined;
  };

  const client = async () => {
    while (!isOver()) {
      const chance = known.length === 0 ? 0 : Math.random();
      const read = chance < 0.5 ? get : listSome;
      await perform(chance < 0.04 ? add : chance < 0.06 ? remove : chance < 0.3 ? change : read);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  // The older pets are still there, too.
  for (let cursor = known.length + 1; cursor > 1;) {
    if (await perform(() => list({ limit: LIMIT_MAX, cursor }))) cursor -= LIMIT_MAX;
  }
}

/** The answers without a pet are recorded by their status. */
function outcomeOf(status: number, text: string): string {
  return [204, 404, 412].includes(status) ? String(status) : text;
}

function now(): number {
  return Math.floor(performance.now() * 1_000);
}
