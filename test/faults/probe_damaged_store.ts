/**
 * Starts a service on a damaged copy of a store, asks it everything, and runs the commands on it. A process of its own
 * does this for many copies, because Deno KV may end the process: it reads cases from standard input, one a line, and
 * prints a `Probe` for each.
 */

import { auditLog } from "../support/tools.ts";
import { systemRuntime } from "eventstore-less/startup";
import { APPLICATION } from "../../src/application.ts";
import { fetchFrom } from "../support/fetch_from.ts";
import { closeSync, copyFileSync, openSync, readSync, writeSync } from "node:fs";
import { rm } from "node:fs/promises";
import { GUARD_KEYS } from "../../src/eventstore_less/keyspace.ts";
import { acceptAppends } from "../../src/eventstore_less/log/accept_store.ts";
import { checkStoreFile } from "../../src/life_cycle/check_store_file.ts";
import { createService, type Service } from "../../src/service.ts";
import { openFileToRead, openStore } from "../../src/eventstore_less/store/open_store.ts";
import type { FileLocation } from "../../src/eventstore_less/store/store_location.ts";
import { readLines } from "../support/service_process.ts";

/** A request. A `walk` is a list, of which all pages count as one answer. */
export interface Question {
  kind: "read" | "walk" | "revoked" | "addition" | "repetition";
  method?: "POST";
  path: string;
  token: string;
  idempotencyKey?: string;
  body?: string;
}

export interface Answer {
  status: number;
  body: string;
  /** How many animals the list says that it has. */
  total: string | null;
}

/** The input of one process: the files, and the right answers. */
export interface Setup {
  /** The sound file. */
  sound: string;
  questions: Question[];
  answers: Answer[];
  /** Last position of the log. */
  position: number;
}

export type Damage = { kind: "none" } | { kind: "flip"; offset: number; bit: number };

/** How a service and the commands meet a damage. */
export interface Probe {
  /** Why the service did not start. */
  refusal?: string;
  /** Whether the service says that it is ready, after all requests. */
  isReady: boolean;
  /** Wrong answers, with an example of each. */
  wrong: Record<string, string>;
  /** Number of answers with 500 or 503. */
  failed: number;
  /** Whether the log was sound before the service started, and is not sound, or lost events, after it. */
  isLogSpoilt: boolean;
  /** The result of the audit: `sound`, kinds of faults, or the reason for a missing result. */
  audit: string;
  /** The result of the replay. */
  replay: string;
  /** The commands that did not end in time. */
  hanging: string[];
}

/** Time limit of a request and of a command, in milliseconds. */
const LIMIT_MS = 20_000;

class HangingError extends Error {}

/** Damages a copy of the sound file at `path`, and probes it. `KV_PATH` must be the path. */
export async function probe(path: string, setup: Setup, damage: Damage): Promise<Probe> {
  for (const suffix of ["-wal", "-shm"]) await rm(path + suffix, { force: true });
  copyFileSync(setup.sound, path);
  damageFile(path, damage);
  const result: Probe = {
    isReady: false,
    wrong: {},
    failed: 0,
    isLogSpoilt: false,
    audit: "",
    replay: "",
    hanging: [],
  };
  const wasSound = await isLogSound(path, setup.position);
  try {
    await withDamagedService(path, async (service) => {
      const answers = await askAll(service, setup.questions, result.hanging);
      for (const [index, answer] of answers.entries()) {
        if (answer.status >= 500) result.failed++;
        const question = setup.questions[index];
        const fault = faultOf(question, setup.answers[index], answer);
        if (fault === undefined) continue;
        const said = `${question.method ?? "GET"} ${question.path}: ${answer.status}`;
        result.wrong[fault] ??= `${said} ${answer.body.slice(0, 100)}`;
      }
      result.isReady =
        (await ask(service, { kind: "read", path: "/readyz", token: "" })).status === 200;
    });
  } catch (error) {
    result.refusal = messageOf(error);
  }
  result.isLogSpoilt = wasSound && !await isLogSound(path, setup.position);
  // They need permissions to be loaded, and tests are loaded without.
  const { configuredStore } = await import("../../scripts/cli/configured_store.ts");
  const { withStore } = await import("../../scripts/cli/run_command.ts");
  const { audit, replay } = await import("../../src/eventstore_less/tools.ts");
  result.audit = await outcomeOf("audit", result, async () => {
    const store = { application: APPLICATION, location: configuredStore() };
    const { sound, counts } = await audit(store);
    return sound ? "sound" : `not sound: ${Object.keys(counts).sort().join(", ")}`;
  });
  result.replay = await outcomeOf("replay", result, async () => {
    await withStore((store) => replay(store, { graceMs: 0 }));
    return "done";
  });
  return result;
}

/** Asks all questions of the service on a file that is sound. */
export async function rightAnswers(path: string, questions: Question[]): Promise<Answer[]> {
  const hanging: string[] = [];
  let answers: Answer[] = [];
  await withDamagedService(path, async (service) => {
    answers = await askAll(service, questions, hanging);
  });
  return answers;
}

function damageFile(path: string, damage: Damage): void {
  if (damage.kind === "none") return;
  const file = openSync(path, "r+");
  const byte = new Uint8Array(1);
  readSync(file, byte, 0, 1, damage.offset);
  byte[0] ^= 1 << damage.bit;
  writeSync(file, byte, 0, 1, damage.offset);
  closeSync(file);
}

/** Starts a service as production does, without a server, and closes it after `use`. */
async function withDamagedService(
  path: string,
  use: (service: Service) => Promise<void>,
): Promise<void> {
  const runtime = systemRuntime;
  const store = await openStore(locationOf(path), {
    program: "animal-store",
    create: true,
    accept: (store) => acceptAppends(APPLICATION, store),
    guardKeys: GUARD_KEYS,
    runtime,
    service: { onRefused() {} },
  });
  const service = createService({ store, runtime, report() {}, isDurable: true });
  await checkStoreFile(service, path);
  try {
    await use(service);
  } finally {
    await service.appender.drain();
    service.store.close();
  }
}

async function askAll(
  service: Service,
  questions: Question[],
  hanging: string[],
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const question of questions) {
    try {
      answers.push(await limited(ask(service, question)));
    } catch (error) {
      if (!(error instanceof HangingError)) throw error;
      hanging.push(question.path);
      answers.push({ status: 503, body: "", total: null });
    }
  }
  return answers;
}

/** Pages of one walk at most: a damaged store could lead in a circle. */
const PAGES_LIMIT = 100;

async function ask(service: Service, question: Question): Promise<Answer> {
  const { kind, method = "GET", token, idempotencyKey, body } = question;
  const headers = new Headers({ authorization: `Bearer ${token}` });
  if (body !== undefined) headers.set("content-type", "application/json");
  if (idempotencyKey !== undefined) headers.set("idempotency-key", idempotencyKey);
  let path = question.path;
  let answer: Answer | undefined;
  for (let pages = 0; pages < PAGES_LIMIT; pages++) {
    const request = new Request(`http://localhost${path}`, { method, headers, body });
    const response = await fetchFrom(service.handler)(request);
    const text = await response.text();
    answer ??= { status: response.status, body: "", total: response.headers.get("x-total-count") };
    // A walk that breaks off with an error is not taken for a complete one.
    if (response.status >= 400) answer.status = response.status;
    answer.body += text;
    const next = /<([^>]*)>; rel="next"/.exec(response.headers.get("link") ?? "");
    if (kind !== "walk" || next === null) break;
    path = new URL(next[1], `http://localhost${path}`).href.slice("http://localhost".length);
  }
  return answer!;
}

/** The name of a wrong answer; `undefined` for a right one, and for one that fails. */
function faultOf(question: Question, right: Answer, answer: Answer): string | undefined {
  const { kind } = question;
  if (answer.status >= 500) return undefined;
  const isSameError = answer.status >= 400 && answer.status === right.status;
  if (isSameError) return undefined;
  const isSame = answer.status === right.status && answer.body === right.body;
  if (isSame && answer.total === right.total) return undefined;
  if (answer.status === 401) return DENIED;
  if (kind === "revoked") return "a revoked or read-only key accepted";
  if (kind === "repetition" && answer.status === 201) return "a repeated POST added again";
  if (kind === "addition") return "a new animal with a wrong answer";
  if (answer.status === 404) return "404 for an existing animal";
  if (right.status === 404) return "a removed animal shown";
  return isSame ? "a wrong total" : "wrong content";
}

/** It is right to refuse, so this does not count as wrong. */
export const DENIED = "a valid key denied";

/** Whether the log has all its events, up to a position or after it, and they verify. */
async function isLogSound(path: string, position: number): Promise<boolean> {
  try {
    using reader = await openFileToRead(locationOf(path));
    const report = await auditLog(reader);
    return report.sound && report.position >= position;
  } catch {
    return false;
  }
}

function locationOf(path: string): FileLocation {
  return { kind: "file", path, isDefault: false };
}

async function outcomeOf(name: string, { hanging }: Probe, run: () => Promise<string>) {
  try {
    return await limited(run());
  } catch (error) {
    if (error instanceof HangingError) hanging.push(name);
    return messageOf(error);
  }
}

async function limited<T>(work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new HangingError("does not end")), LIMIT_MS);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function messageOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

if (import.meta.main) {
  const [path, setupPath] = Deno.args;
  const setup: Setup = JSON.parse(await Deno.readTextFile(setupPath));
  await readLines(Deno.stdin.readable, async (line) => {
    const result = await probe(path, setup, JSON.parse(line));
    console.log(JSON.stringify(result));
    // A command that did not end would disturb the next case.
    if (result.hanging.length > 0) Deno.exit(0);
  });
  Deno.exit(0);
}
