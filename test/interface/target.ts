/** Services that are told all stories of the interface, one after the other. */

import { assertEquals } from "@std/assert";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import type { Service } from "../../src/service.ts";
import { describedAnswer } from "../support/assert_described.ts";
import { useRealStore } from "../support/real_store.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";
import { WEBHOOK_KEY } from "../support/webhook_key.ts";
import { type Need as TestNeed, testNeeding } from "../support/test_needing.ts";
import { clausesOf, SECTIONS } from "./sections.ts";
import type { Need } from "./story.ts";
import { type Breach, type Listener, tell } from "./tell.ts";

/** Services on one store, of which each request goes to the next one. */
export interface Target {
  /** Ends the name of its tests. */
  name: string;
  needs: TestNeed[];
  open(stack: AsyncDisposableStack): Promise<OpenTarget>;
}

interface OpenTarget extends Keys {
  base: string;
  /** Such as `http://127.0.0.1:8000`. */
  addresses: string[];
  /** Those that reach a proxy before them, each from another address. */
  clients?: Deno.HttpClient[];
}

interface Keys {
  key: string;
  readOnlyKey: string;
}

/** What each of these services has. */
const HAS: Need[] = ["a read-only key", "a store that nobody else changes", "webhooks"];

/** Declares a test of all stories, with a step for each section. */
export function testStories({ name, needs, open }: Target): void {
  testNeeding(...needs)(`the interface ${name}`, async (context) => {
    await using stack = new AsyncDisposableStack();
    const { addresses, clients, base, ...keys } = await open(stack);
    const direct = stack.use(Deno.createHttpClient({ allowHost: true }));
    const has = clients === undefined ? [...HAS, "no proxy" as const] : HAS;
    const send = sendTo(addresses, base, clients ?? [direct]);
    for (const section of SECTIONS) {
      await context.step(section.title, async () => {
        const breaches: ({ clause: string } & Breach)[] = [];
        for (const clause of clausesOf(section)) {
          const canTell = (clause.needs ?? []).every((need) => has.includes(need));
          const breach = canTell ? await tell(clause, { base, send, has, ...keys }) : undefined;
          if (breach !== undefined) breaches.push({ clause: clause.name, ...cut(breach) });
        }
        assertEquals(breaches, []);
      });
    }
  });
}

/** A body may be long. */
const SHOWN_LENGTH = 2_000;

function cut({ request, expected, came }: Breach): Breach {
  const [shownRequest, shownExpected, shownCame] = [request, expected, came]
    .map((text) => text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text);
  return { request: shownRequest, expected: shownExpected, came: shownCame };
}

/** Sends each request to the next address, by the next client. */
function sendTo(addresses: string[], base: string, clients: Deno.HttpClient[]): Listener["send"] {
  let count = 0;
  return (input, init) => {
    const path = `/v1${String(input).slice(base.length)}`;
    const address = addresses[count % addresses.length];
    const client = clients[count % clients.length];
    count += 1;
    return describedAnswer(init?.method, path, fetch(address + path, { ...init, client }));
  };
}

export async function issueKeys(service: Service): Promise<Keys> {
  const { token: key } = await issueApiKey(service, { label: "writer" });
  const { token: readOnlyKey } = await issueApiKey(service, { label: "reader", isReadOnly: true });
  return { key, readOnlyKey };
}

export interface NewStore {
  /** Names it for programs: a path, an address or the URL of a database. */
  name: string;
  env?: Record<string, string>;
}

/** Makes a store that is empty. */
export type MakeStore = (stack: AsyncDisposableStack) => Promise<NewStore>;

/** Opens a process of the service on a new store. */
export function processOn(makeStore: MakeStore, start = ServiceProcess.start): Target["open"] {
  return async (stack) => {
    const { addresses: [address], keys } = await startAll(stack, makeStore, [start]);
    return { addresses: [address], base: `${address}/v1`, ...keys };
  };
}

/** For all that is reached by another address than its own. */
const PUBLIC_URL = "https://shop.example/v1";

/** Opens processes of the service on a new store, which have several ports but one base address. */
export function processesOn(makeStore: MakeStore, count: number): Target["open"] {
  return async (stack) => {
    const start = (name: string, env = {}) => ServiceProcess.start(name, { ...env, PUBLIC_URL });
    const { addresses, keys } = await startAll(stack, makeStore, Array(count).fill(start));
    return { addresses, base: PUBLIC_URL, ...keys };
  };
}

async function startAll(
  stack: AsyncDisposableStack,
  makeStore: MakeStore,
  starts: (typeof ServiceProcess.start)[],
) {
  const { name, env } = await makeStore(stack);
  const keys = await useRealStore(name, issueKeys, env);
  const addresses: string[] = [];
  for (const start of starts) {
    const service = stack.use(await start(name, { ...env, WEBHOOK_KEY }));
    addresses.push(service.address);
    stack.defer(async () => assertEquals(await service.stop(), 0, service.lines.join("\n")));
  }
  return { addresses, keys };
}

export async function newFile(stack: AsyncDisposableStack): Promise<NewStore> {
  return { name: stack.use(await TempStore.make()).kvPath };
}
