/**
 * Compares pages of two services with a model that is built from the exported log, while clients write, services are
 * killed and replays run.
 *
 *     deno run --allow-all test/faults/page_fuzz.ts [PAGES]            on a file; every second service is on Node if built
 *     deno run --allow-all test/faults/page_fuzz.ts [PAGES] ADDRESS    on a KV Connect server or a database
 */

import { replay } from "../../scripts/replay/replay.ts";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { pick } from "../support/load_client.ts";
import { startOnNode } from "../support/node_service.ts";
import { BUILT_PROGRAM } from "../support/programs.ts";
import { useRealStore } from "../support/real_store.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { readLogLines } from "../support/sound_log.ts";
import { TempStore } from "../support/temp_store.ts";

interface Pet {
  id: number;
  name: string;
  categoryId: number;
  status?: string;
}

/** A page as a client got it. */
interface SeenPage {
  query: URLSearchParams;
  /** The greatest position of the pages that had come when the request was sent, and the number of acknowledged writes. */
  acknowledged: number;
  writes: number;
  position: number;
  pets: Pet[];
  next?: number;
  total?: number;
}

export interface FuzzResult {
  pages: number;
  kills: number;
  replays: number;
  /** Number of responses of each status, and of requests without a response. */
  statuses: Record<string, number>;
  failures: string[];
}

/** A write that was acknowledged. No other one has both its id and its name. */
interface Write {
  id: number;
  /** Absent for a removal. */
  name?: string;
}

const STATUSES = ["available", "pending", "sold", undefined];
const NAMES = ["Rex", "Max", "T. REX", "Zoë", "rexine"];
/** Everything that a client must expect while instances are killed. Only `none` is a lost connection. */
const EXPECTED_STATUSES = ["200", "201", "204", "404", "503", "none"];
const random = (limit: number) => Math.floor(Math.random() * limit);

/** Sends requests until it has so many pages. `address` names a store that is a database or a server. */
export async function fuzzPages(wanted: number, address?: string): Promise<FuzzResult> {
  await using temp = await TempStore.make();
  const store = address ?? temp.kvPath;
  const { token } = await useRealStore(store, (it) => issueApiKey(it, { label: "fuzz" }));
  const result: FuzzResult = { pages: 0, kills: 0, replays: 0, statuses: {}, failures: [] };
  let starts = 0;
  const start = () => {
    starts++;
    const isOnNode = BUILT_PROGRAM.isMet && starts % 2 === 0;
    return isOnNode ? startOnNode(store) : ServiceProcess.start(store);
  };
  const services = [await start(), await start()];
  const seen: SeenPage[] = [];
  const isOver = () => seen.length >= wanted;
  const writes: Write[] = [];
  let acknowledged = 0;
  let newest = 0;
  let number = 0;
  const send = async (path: string, init?: RequestInit) => {
    const response = await pick(services).send(path, token, init).catch(() => undefined);
    const status = String(response?.status ?? "none");
    result.statuses[status] = (result.statuses[status] ?? 0) + 1;
    if (!EXPECTED_STATUSES.includes(status)) {
      result.failures.push(`${status}: ${path} ${await response?.text()}`);
    }
    return response;
  };
  const write = async () => {
    const kind = random(10);
    number++;
    const name = `${pick(NAMES)} ${number}`;
    const pet = { name, categoryId: random(4), status: pick(STATUSES) };
    const id = 1 + random(newest + 1);
    const path = kind < 4 ? "/v1/pets" : `/v1/pets/${id}`;
    const method = kind < 4 ? "POST" : kind < 9 ? "PATCH" : "DELETE";
    const body = method === "DELETE" ? undefined : JSON.stringify(pet);
    const headers = { "content-type": "application/json" };
    const response = await send(path, { method, headers, body });
    const text = await response?.text().catch(() => undefined);
    if (!response?.ok || text === undefined) return;
    if (method === "DELETE") {
      writes.push({ id });
      return;
    }
    const written = JSON.parse(text);
    newest = Math.max(newest, written.id);
    writes.push({ id: written.id, name });
  };
  const read = async () => {
    const query = drawQuery(newest);
    const before = { acknowledged, writes: writes.length };
    const response = await send(`/v1/pets?${query}`);
    const text = await response?.text().catch(() => undefined);
    if (response?.status !== 200 || text === undefined) return;
    const next = /cursor=(\d+)[^>]*>/.exec(response.headers.get("link") ?? "")?.[1];
    const total = response.headers.get("x-total-count");
    const position = parseInt(response.headers.get("x-feed-position")!);
    acknowledged = Math.max(acknowledged, position);
    seen.push({
      query,
      ...before,
      position,
      pets: JSON.parse(text),
      next: next === undefined ? undefined : Number(next),
      total: total === null ? undefined : Number(total),
    });
  };
  const repeat = async (work: () => Promise<unknown>, pauseMs = 0) => {
    while (!isOver()) {
      await work();
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
  const kill = async () => {
    const slot = random(2);
    await services[slot].stop("SIGKILL");
    result.kills++;
    services[slot] = await start();
  };
  const rebuild = async () => {
    const graceMs = 10_000;
    const ended = await useRealStore(store, (it) => replay(it, { graceMs })).catch(() => undefined);
    if (ended !== undefined) result.replays++;
  };
  await Promise.all([
    ...Array.from({ length: 2 }, () => repeat(write, 1)),
    ...Array.from({ length: 8 }, () => repeat(read)),
    repeat(kill, 3_000),
    repeat(rebuild, 1_000),
  ]);
  for (const service of services) await service.stop();
  const lines = await useRealStore(store, (it) => readLogLines(it.store));
  const model = new Model(lines);
  const positions = positionsOf(writes, model);
  const lost = positions.filter((it) => it === undefined).length;
  if (lost > 0) result.failures.push(`${lost} acknowledged writes are not in the log`);
  for (const page of seen) {
    result.pages++;
    page.acknowledged = Math.max(page.acknowledged, positions[page.writes - 1] ?? 0);
    const fault = page.query.has("name") ? model.faultOfSearch(page) : model.faultOfPage(page);
    if (fault !== undefined) result.failures.push(`${page.query} at ${page.position}: ${fault}`);
  }
  return result;
}

/** For each write, the greatest position up to it; `undefined` for a write that the log does not have. */
function positionsOf(writes: Write[], model: Model): (number | undefined)[] {
  let greatest = 0;
  return writes.map((write) => {
    const position = model.positionOf(write);
    greatest = Math.max(greatest, position ?? 0);
    return position === undefined ? undefined : greatest;
  });
}

function drawQuery(newest: number): URLSearchParams {
  const query = new URLSearchParams();
  if (random(6) === 0) {
    const ids = Array.from({ length: 1 + random(6) }, () => 1 + random(newest + 2));
    query.set("ids", [...new Set(ids)].join());
    return query;
  }
  if (random(2) === 0) query.set("status", pick(["available", "pending", "sold", "none"]));
  if (random(4) === 0) query.set("categoryId", String(random(4)));
  if (random(3) === 0) query.set("order", pick(["asc", "desc"]));
  if (random(2) === 0) query.set("cursor", String(1 + random(newest + 2)));
  if (random(8) === 0) query.set("name", pick(["rex", "a", "zoë"]));
  query.set("limit", String(pick([1, 3, 20, 100])));
  return query;
}

/** All states of all pets, from nothing but the lines of the log. */
class Model {
  /** By id: the states of a pet, each from the position of an event on; without a pet after its removal. */
  #states: { position: number; pet?: Pet }[][] = [];
  #last = 0;

  constructor(lines: string[]) {
    for (const line of lines) {
      const { type, sequence, data } = JSON.parse(line);
      this.#last = Number(sequence);
      if (!type.startsWith("Pet")) continue;
      const { previous: _, ...pet } = data;
      const states = this.#states[pet.id] ?? [];
      this.#states[pet.id] = states;
      states.push({ position: this.#last, pet: type === "PetRemoved" ? undefined : pet });
    }
  }

  positionOf({ id, name }: Write): number | undefined {
    return this.#states[id]?.find(({ pet }) => pet?.name === name)?.position;
  }

  faultOfPage({ query, acknowledged, position, pets, next, total }: SeenPage): string | undefined {
    if (position < acknowledged) return `older than position ${acknowledged}`;
    const all = this.#statesFrom(position, position)
      .flatMap(({ states: [pet] }) => pet !== undefined && matches(pet, query) ? [pet] : []);
    const isAscending = query.get("order") === "asc";
    const cursor = query.get("cursor");
    const after = (isAscending ? all : all.reverse()).filter(({ id }) => {
      if (cursor === null) return true;
      return isAscending ? id > Number(cursor) : id < Number(cursor);
    });
    const shown = after.slice(0, Number(query.get("limit") ?? 100));
    const expectedNext = shown.length < after.length ? shown.at(-1)!.id : undefined;
    if (JSON.stringify(pets) !== JSON.stringify(shown)) return `${JSON.stringify(pets)} is wrong`;
    if (next !== expectedNext) return `its next page is ${next}, not ${expectedNext}`;
    if (total !== undefined && total !== all.length) return `it counts ${total}, not ${all.length}`;
  }

  /** Each pet must be in a state that it had at the position or later, and be shown unless it did not match at some time. */
  faultOfSearch({ query, acknowledged, position, pets, next }: SeenPage): string | undefined {
    if (position < acknowledged) return `older than position ${acknowledged}`;
    const isAscending = query.get("order") === "asc";
    const beforeFirst = isAscending ? 0 : Infinity;
    const cursor = Number(query.get("cursor") ?? beforeFirst);
    for (const { id, states } of this.#statesFrom(position, this.#last)) {
      const isInPage = isAscending
        ? id > cursor && id <= (next ?? Infinity)
        : id < cursor && id >= (next ?? 1);
      const shown = JSON.stringify(pets.find((pet) => pet.id === id));
      const possible = states.map((pet) =>
        isInPage && pet !== undefined && matches(pet, query) ? JSON.stringify(pet) : undefined
      );
      if (!possible.includes(shown)) return `pet ${id} is ${shown}, not one of ${possible}`;
    }
  }

  /** The pets by their ids, with their states at one position and those that follow up to another. */
  #statesFrom(from: number, to: number) {
    return Object.entries(this.#states).map(([id, all]) => {
      const first = all.findLast(({ position }) => position <= from)?.pet;
      const later = all.filter(({ position }) => position > from && position <= to);
      return { id: Number(id), states: [first, ...later.map(({ pet }) => pet)] };
    });
  }
}

function matches(pet: Pet, query: URLSearchParams): boolean {
  const [status, categoryId, name, ids] = ["status", "categoryId", "name", "ids"]
    .map((it) => query.get(it));
  return (status === null || (pet.status ?? "none") === status) &&
    (categoryId === null || pet.categoryId === Number(categoryId)) &&
    (name === null || pet.name.toUpperCase().includes(name.toUpperCase())) &&
    (ids === null || ids.split(",").includes(String(pet.id)));
}

if (import.meta.main) {
  const [pages = "20000", address] = Deno.args;
  const { failures, ...counts } = await fuzzPages(Number(pages), address);
  console.log({ ...counts, failures: failures.length });
  for (const failure of failures.slice(0, 10)) console.log(failure.slice(0, 600));
  Deno.exit(failures.length === 0 ? 0 : 1);
}
