/**
 * Damages a store in one place, again and again, and counts what a service and the commands then do.
 *
 *     deno task faults --flips 3000 [--pets 60] [--seed N]
 */

import type { Runtime } from "eventstore-less";
import { systemRuntime } from "eventstore-less/startup";
import { APPLICATION } from "../../src/application.ts";
import { copyFile, stat, writeFile } from "node:fs/promises";
import { splitLines } from "../../src/eventstore_less/log/lines.ts";
import { issueApiKey, revokeApiKey } from "../../src/keys/write_api_key.ts";
import { GUARD_KEYS } from "../../src/eventstore_less/keyspace.ts";
import { acceptAppends } from "../../src/eventstore_less/log/accept_store.ts";
import { createService, type Service } from "../../src/service.ts";
import { openStore } from "../../src/eventstore_less/store/open_store.ts";
import { Random } from "../sim/random.ts";
import { TempStore } from "../support/temp_store.ts";
import { clientOfHandler } from "../support/test_service.ts";
import { ROOT } from "../support/with_project_copy.ts";
import {
  type Damage,
  DENIED,
  type Probe,
  type Question,
  rightAnswers,
  type Setup,
} from "./probe_damaged_store.ts";

export interface DamageOptions {
  /** Number of damages; each is one case. */
  count: number;
  /** With `none`, the harness itself must find no fault. */
  kind: Damage["kind"];
  /** Number of animals in the store. */
  pets: number;
  /** The seed of the first case; each further case has the next one. */
  seed: number;
}

/** A damage, and how it was met; a text if the process that met it ended or hung. */
export interface Case {
  seed: number;
  damage: Damage;
  probe: Probe | string;
}

/** Number of processes that probe side by side. */
const PROCESSES = 2;

/** A process that probes a case for so long hangs, in milliseconds. */
const CASE_LIMIT_MS = 180_000;

/** Makes a store by the service, and probes copies of its file with one damage each. */
export async function probeDamages({ count, kind, pets, seed }: DamageOptions): Promise<Case[]> {
  await using temp = await TempStore.make();
  const setup = await makeStore(temp.folder, pets);
  const { size } = await stat(setup.sound);
  const setupPath = `${temp.folder}/setup.json`;
  await writeFile(setupPath, JSON.stringify(setup));
  const seeds = Array.from({ length: count }, (_, index) => seed + index);
  const waiting = seeds.map((seed) => ({ seed, damage: damageOf(kind, size, seed) }));
  const cases: Case[] = [];
  const work = async (number: number) => {
    const path = `${temp.folder}/damaged-${number}.sqlite3`;
    let process: Prober | undefined;
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      process ??= new Prober(path, setupPath);
      const probe = await process.probe(next.damage);
      cases.push({ ...next, probe });
      if (typeof probe === "string" || probe.hanging.length > 0) {
        await process.end();
        process = undefined;
      }
    }
    await process?.end();
  };
  await Promise.all(Array.from({ length: PROCESSES }, (_, number) => work(number)));
  return cases.toSorted((one, other) => one.seed - other.seed);
}

/** A process that probes one case after the other. */
class Prober {
  #process: Deno.ChildProcess;
  #results: AsyncIterator<string>;
  #input: WritableStreamDefaultWriter<Uint8Array>;

  constructor(path: string, setupPath: string) {
    this.#process = new Deno.Command(Deno.execPath(), {
      args: ["run", "--allow-all", "test/faults/probe_damaged_store.ts", path, setupPath],
      cwd: ROOT,
      env: { NO_COLOR: "1", KV_PATH: path },
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#results = textLines(this.#process.stdout);
    this.#input = this.#process.stdin.getWriter();
  }

  /** Resolves to the reason for a missing probe if the process ended or hung. */
  async probe(damage: Damage): Promise<Probe | string> {
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), CASE_LIMIT_MS);
    try {
      await this.#input.write(new TextEncoder().encode(`${JSON.stringify(damage)}\n`));
      const { value, done } = await this.#results.next();
      if (!done) return JSON.parse(value);
      const { signal } = await this.#process.status;
      return signal === "SIGKILL" ? "the process hangs" : "Deno ended the process";
    } finally {
      clearTimeout(timer);
    }
  }

  async end(): Promise<void> {
    await this.#input.close().catch(() => {});
    await this.#process.status;
  }
}

async function* textLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const lines of splitLines(stream)) {
    for (const line of lines) yield decoder.decode(line);
  }
}

/** The damage of a case. */
function damageOf(kind: Damage["kind"], bytes: number, seed: number): Damage {
  const random = new Random(seed);
  return kind === "none"
    ? { kind }
    : { kind, offset: random.integer(0, bytes - 1), bit: random.integer(0, 7) };
}

/** Makes a store, and asks all questions of a copy. */
async function makeStore(folder: string, pets: number): Promise<Setup> {
  const random = new Random(pets);
  let ids = 0;
  // The same number gives the same store, but for the times in it.
  const runtime: Runtime = {
    ...systemRuntime,
    randomBytes: (length) => random.bytes(length),
    newId: () => `01K${String(++ids).padStart(23, "0")}`,
  };
  const made = `${folder}/made.sqlite3`;
  const [sound, asked] = ["sound", "asked"].map((it) => `${folder}/${it}.sqlite3`);
  const history = new History(runtime, pets);
  await withServiceOn(made, runtime, (service) => history.write(service));
  await copyFile(made, sound);
  await copyFile(made, asked);
  const questions = history.questions();
  const answers = await rightAnswers(asked, questions);
  return { sound, questions, answers, position: history.position };
}

async function withServiceOn(
  path: string,
  runtime: Runtime,
  use: (service: Service) => Promise<void>,
): Promise<void> {
  const store = await openStore({ kind: "file", path, isDefault: false }, {
    program: "animal-store",
    create: true,
    accept: (store) => acceptAppends(APPLICATION, store),
    guardKeys: GUARD_KEYS,
    runtime,
  });
  const service = createService({ store, runtime, report() {} });
  await use(service);
  await service.appender.drain();
  service.store.close();
}

const STATUSES = ["available", "pending", "sold", undefined];
const CATEGORIES = 5;

/** The requests of clients and operators that fill the store, and the questions about what they leave. */
class History {
  /** Last position of the log. */
  position = 0;
  #runtime: Runtime;
  #pets: number;
  #writer = "";
  #valid: string[] = [];
  #revoked: string[] = [];
  #repetitions: Question[] = [];

  constructor(runtime: Runtime, pets: number) {
    this.#runtime = runtime;
    this.#pets = pets;
  }

  /** Issues keys, and revokes some; adds the animals, and changes and removes some. */
  async write(service: Service): Promise<void> {
    const keys = [];
    for (let number = 0; number < 6; number++) {
      const isReadOnly = number === 1;
      keys.push(await issueApiKey(service, { label: `key ${number}`, isReadOnly }));
    }
    const [writer, reader, other, ...revoked] = keys;
    this.#writer = writer.token;
    this.#valid.push(writer.token, reader.token, other.token);
    this.#revoked.push(...revoked.map(({ token }) => token));
    const client = clientOfHandler(writer.token, service.handler);
    for (let id = 1; id <= this.#pets; id++) {
      const addition = this.#addition(id);
      const { body, idempotencyKey } = addition;
      const headers: Record<string, string> = idempotencyKey === undefined
        ? {}
        : { "idempotency-key": idempotencyKey };
      await expectOk(client.add(body, headers));
      if (idempotencyKey !== undefined) this.#repetitions.push(addition);
      if (id % 5 === 0) await expectOk(client.change(id - 2, { status: "sold" }));
      if (id % 7 === 0) await expectOk(client.change(id - 1, { name: `Changed ${id}` }));
      if (id % 10 === 0) await expectOk(client.remove(id - 5));
    }
    for (const { id } of revoked) await revokeApiKey(service, id);
    this.position = (await service.heads.fresh()).head.position;
  }

  questions(): Question[] {
    const token = this.#writer;
    const read = (path: string): Question => ({ kind: "read", path, token });
    const walk = (query: string): Question => ({ kind: "walk", path: `/v1/pets?${query}`, token });
    const ids = Array.from({ length: this.#pets }, (_, index) => index + 1);
    const chunks = ids.filter((id) => id % 50 === 1).map((id) => ids.slice(id - 1, id + 49));
    const categories = Array.from({ length: CATEGORIES }, (_, number) => number);
    const { path, method, body } = this.#addition(this.#pets + 1);
    const addition: Question = { kind: "addition", path, method, body, token };
    const refused = [...this.#revoked, this.#valid[1]];
    return [
      ...ids.map((id) => read(`/v1/pets/${id}`)),
      read("/v1/pets"),
      ...["available", "pending", "sold"].map((status) => read(`/v1/pets?status=${status}`)),
      ...["limit=7", "limit=100"].map(walk),
      ...["available", "pending", "sold"].map((status) => walk(`status=${status}&limit=5`)),
      ...categories.map((id) => walk(`categoryId=${id}&limit=5`)),
      ...categories.map((id) => walk(`categoryId=${id}&status=sold&limit=5`)),
      ...chunks.map((chunk) => read(`/v1/pets?ids=${chunk.join()}`)),
      read("/v1/events?limit=1000"),
      ...this.#valid.map((token): Question => ({ kind: "read", path: "/v1/pets?limit=1", token })),
      ...this.#revoked.map((token): Question => ({
        kind: "revoked",
        path: "/v1/pets?limit=1",
        token,
      })),
      // Before what could wrongly add another animal.
      addition,
      ...this.#repetitions.map((it): Question => ({ ...it, kind: "repetition" })),
      ...refused.map((token): Question => ({ ...addition, kind: "revoked", token })),
    ];
  }

  #addition(id: number): Question {
    const status = STATUSES[id % STATUSES.length];
    const pet = { name: `Animal ${id}`, categoryId: id % CATEGORIES, status };
    return {
      kind: "addition",
      method: "POST",
      path: "/v1/pets",
      token: this.#writer,
      body: JSON.stringify(pet),
      ...(id % 3 === 0 ? { idempotencyKey: `order-${id}` } : {}),
    };
  }
}

/** Asserts that a request of the history was carried out. */
async function expectOk(answer: Promise<Response>): Promise<void> {
  const response = await answer;
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.url} gets ${response.status}: ${text}`);
}

/** The faults of a case that must not be; the first words name the row of the table. */
export function faultsOf({ probe }: Case): Record<string, string> {
  if (typeof probe === "string") return {};
  const faults: Record<string, string> = {};
  if (probe.isReady) {
    for (const [name, example] of Object.entries(probe.wrong)) {
      if (name !== DENIED) faults[`wrong answer: ${name}`] = example;
    }
  }
  if (probe.isLogSpoilt) faults["log made unsound by the service"] = probe.audit;
  for (const what of probe.hanging) faults[`does not end: ${what}`] = "";
  return faults;
}

/** The number of cases of each kind, and the seeds and damages of those that must not be. */
export function describeCases(cases: Case[]): string {
  const rows = new Map<string, number>();
  const addRow = (name: string) => rows.set(name, (rows.get(name) ?? 0) + 1);
  const bad: string[] = [];
  for (const each of cases) {
    const { seed, damage, probe } = each;
    const faults = Object.entries(faultsOf(each));
    const isWrong = faults.some(([name]) => name.startsWith("wrong answer"));
    if (isWrong) addRow("WRONG ANSWER of any kind, and ready");
    for (const [name] of faults) addRow(name);
    const which = `seed ${seed}, ${placeOf(damage)}`;
    for (const [name, example] of faults) bad.push(`${which}: ${name}: ${example}`);
    if (typeof probe === "string") {
      addRow(probe);
      continue;
    }
    const isSound = probe.audit === "sound";
    if (isWrong && isSound) bad.push(`${which}: the audit says that the store is sound`);
    if (isWrong && isSound) addRow("wrong answer, and the audit says sound");
    if (!probe.isReady && probe.refusal === undefined) addRow("started, and not ready");
    const wrong = Object.keys(probe.wrong);
    if (!probe.isReady && wrong.some((it) => it !== DENIED)) addRow("wrong answer, but not ready");
    if (probe.refusal !== undefined) addRow("did not start");
    if (wrong.includes(DENIED)) addRow(DENIED);
    if (probe.failed > 0) addRow("some requests got 500 or 503");
    const hasResult = /^(sound|not sound)/.test(probe.audit);
    addRow(`audit: ${isSound ? "sound" : hasResult ? "not sound" : "no report"}`);
    addRow(`replay: ${probe.replay === "done" ? "done" : "refused"}`);
  }
  const table = [...rows].toSorted(([, one], [, other]) => other - one)
    .map(([name, number]) => `${String(number).padStart(6)}  ${name}`);
  return [
    `${cases.length} cases:`,
    ...table,
    `Bad cases (${bad.length}):`,
    ...bad,
  ].join("\n");
}

function placeOf(damage: Damage): string {
  if (damage.kind === "none") return "no damage";
  return `byte ${damage.offset}, bit ${damage.bit}`;
}
