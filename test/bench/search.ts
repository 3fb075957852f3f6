/**
 * Measures lists beside searches by name, and the history of an animal with many changes.
 *
 *     deno run --allow-all test/bench/search.ts [--seconds S] [--pets N] [--changes N]
 */

import { fetchFrom } from "../support/fetch_from.ts";
import { lastPetIdOf } from "../../src/animals/pet_counts.ts";
import { EXIT, runCommand } from "../../scripts/cli/run_command.ts";
import { fillStore } from "../support/fill_store.ts";
import { useRealStore } from "../support/real_store.ts";
import { TempStore } from "../support/temp_store.ts";
import { requestBytes, runLoad } from "./load.ts";
import { ROOT, type ServerProcess, startService } from "./processes.ts";

const SEARCH = {
  title: "Measures lists beside searches by name, and the history of an animal",
  details: `Prints the processor time of a page of a search that finds nothing, p50 and p99 of lists
    beside such searches, and the times of pages of the history, all in ms.`,
  usage: [],
  examples: () => [
    "deno run --allow-all test/bench/search.ts [--seconds S] [--pets N] [--changes N]",
  ],
  flags: {
    "--seconds S": "how long each measurement takes (default: 10)",
    "--pets N": "number of pets (default: 100000)",
    "--changes N": "number of changes of one pet (default: 10000)",
  },
  variables: [],
  exits: "0 done, 2 could not run",
} as const;

/** Numbers of clients that search all the time. */
const SEARCHERS = [0, 1, 8];

/** Searches through all pets whose processor time is measured. */
const WALKS = 10;

/** Pause between two lists, in milliseconds, so that they come at any moment. */
const PAUSE_MS = 2;

/** Number of concurrent changes. */
const WAVE = 500;

/** Events of a page of the history, and how often each page is read. */
const HISTORY_LIMIT = 100;
const HISTORY_READS = 21;

/** Number of names that were searched. */
let searches = 0;

await runCommand(SEARCH, {
  async run({ seconds = "10", pets = "100000", changes = "10000" }) {
    await using temp = await TempStore.make();
    const token = await fillStore(temp.kvPath, Number(pets));
    const petId = await addChangedPet(temp.kvPath, token, Number(changes));
    await using service = await startService(temp.kvPath, { root: ROOT });
    const target = { port: service.port, headers: { authorization: `Bearer ${token}` } };
    await measurePages(target, service);
    for (const searchers of SEARCHERS) {
      await measureLists(target, searchers, Number(pets), 1_000 * Number(seconds));
    }
    await measureHistory(target, petId);
    return EXIT.done;
  },
});

/** Adds a pet and changes it that often. Resolves to its id. */
function addChangedPet(path: string, token: string, changes: number): Promise<number> {
  return useRealStore(path, async ({ handler, heads }) => {
    const fetch = fetchFrom(handler);
    const send = async (method: string, resource: string, body: object) => {
      const response = await fetch(
        new Request(`http://localhost/v1/${resource}`, {
          method,
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          body: JSON.stringify(body),
        }),
      );
      if (!response.ok) throw new Error(await response.text());
      await response.body?.cancel();
    };
    await send("POST", "pets", { name: "Often changed", categoryId: 1 });
    const id = lastPetIdOf((await heads.fresh()).head);
    for (let number = 0; number < changes; number += WAVE) {
      const wave = Array.from(
        { length: Math.min(WAVE, changes - number) },
        (_, index) => send("PATCH", `pets/${id}`, { name: `Often changed ${number + index}` }),
      );
      await Promise.all(wave);
    }
    return id;
  });
}

/** A service, and the headers of requests to it. */
interface Target {
  port: number;
  headers: Record<string, string>;
}

interface ReadPage {
  /** The address of the next page. */
  next: string | undefined;
  ms: number;
}

async function readPage(url: string, { headers }: Target): Promise<ReadPage> {
  const start = performance.now();
  const response = await fetch(url, { headers });
  const text = await response.text();
  const ms = performance.now() - start;
  if (!response.ok) throw new Error(text);
  const next = /<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
  return { next, ms };
}

/** Searches all pets for a name that none has, and that was not searched before. Resolves to the times of the pages. */
async function search(target: Target, isOver = () => false): Promise<number[]> {
  searches++;
  const times: number[] = [];
  let url: string | undefined = urlOf(target, `pets?name=none${searches}`);
  while (url !== undefined && !isOver()) {
    const page: ReadPage = await readPage(url, target);
    times.push(page.ms);
    url = page.next;
  }
  return times;
}

function urlOf({ port }: Target, path: string): string {
  return `http://127.0.0.1:${port}/v1/${path}`;
}

async function measurePages(target: Target, service: ServerProcess): Promise<void> {
  await search(target);
  const before = service.cpuMs();
  const times: number[] = [];
  for (let walk = 0; walk < WALKS; walk++) times.push(...await search(target));
  const cpuMs = (service.cpuMs() - before) / times.length;
  console.log(
    `a page of a search that finds nothing: ${cpuMs.toFixed(0)} ms of processor time, ` +
      `in ${medianOf(times).toFixed(0)} ms; ${times.length / WALKS} pages have all pets`,
  );
}

async function measureLists(
  target: Target,
  searchers: number,
  pets: number,
  ms: number,
): Promise<void> {
  let isOver = false;
  const times: number[] = [];
  const searchOn = async () => {
    while (!isOver) times.push(...await search(target, () => isOver));
  };
  const searching = Array.from({ length: searchers }, searchOn);
  const next = () => {
    const path = `/v1/pets?limit=20&cursor=${21 + Math.floor(Math.random() * pets)}`;
    return requestBytes({ method: "GET", path, headers: target.headers });
  };
  const load = { port: target.port, connections: 1, ms, next, pauseMs: PAUSE_MS };
  const { p50Ms, p99Ms, failures } = await runLoad(load);
  isOver = true;
  await Promise.all(searching);
  const pages = searchers === 0
    ? ""
    : `; a page of a search in ${medianOf(times).toFixed(0)} ms, ${times.length} pages`;
  console.log(
    `a list beside ${searchers} searching: p50 ${p50Ms.toFixed(1)} p99 ${p99Ms.toFixed(1)} ms, ` +
      `${failures} failures${pages}`,
  );
}

async function measureHistory(target: Target, petId: number): Promise<void> {
  const urls: string[] = [];
  let url: string | undefined = urlOf(target, `pets/${petId}/events?limit=${HISTORY_LIMIT}`);
  while (url !== undefined) {
    urls.push(url);
    url = (await readPage(url, target)).next;
  }
  for (const number of new Set([1, 100, urls.length])) {
    const page = urls[number - 1];
    if (page === undefined) continue;
    const times: number[] = [];
    for (let read = 0; read < HISTORY_READS; read++) times.push((await readPage(page, target)).ms);
    console.log(`page ${number} of the history: ${medianOf(times).toFixed(1)} ms`);
  }
}

function medianOf(times: number[]): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)];
}
