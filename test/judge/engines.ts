import { audit } from "../support/tools.ts";
import { assert, assertEquals } from "@std/assert";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { startPair } from "../postgres/failover.ts";
import { DENOKV } from "../support/denokv_server.ts";
import { installNode, startOnNode } from "../support/node_service.ts";
import { POSTGRES } from "../support/postgres_server.ts";
import { pick } from "../support/load_client.ts";
import { useRealStore } from "../support/real_store.ts";
import { ServiceProcess, SUPERVISED } from "../support/service_process.ts";
import { childrenOf } from "../support/store_server.ts";
import { TempStore } from "../support/temp_store.ts";
import type { Need } from "../support/test_needing.ts";
import { install } from "../support/third_party_tools.ts";
import { type Engine, installChecker, judge } from "./judge.ts";

/** How often instances are killed in a long history. */
const KILLS = 6;

/** How to open an engine on an empty store. */
interface EngineKind {
  needs: Need[];
  open(): Promise<Engine>;
}

const NODE = await install("Node", installNode);

export const ENGINES: Record<string, EngineKind> = {
  "two instances on one file": { needs: [], open: () => openFile() },
  "three processes of one supervisor on one file": { needs: [], open: openProcesses },
  "Node and Deno at the same time on one file": {
    needs: [NODE],
    open: () => {
      let starts = 0;
      return openFile((path) => startInTurn(path, starts++));
    },
  },
  "denokv, which is killed too": { needs: [DENOKV.need], open: openDenokv },
  "PostgreSQL with fail-overs": { needs: [POSTGRES.need], open: openPostgres },
};

function startInTurn(store: string, count: number): Promise<ServiceProcess> {
  return NODE.isMet && count % 2 === 0 ? startOnNode(store) : ServiceProcess.start(store);
}

async function openProcesses(): Promise<Engine> {
  let instance: Promise<ServiceProcess> | undefined;
  const start = (path: string) =>
    instance ??= ServiceProcess.start(path, { PROCESSES: "3" }, SUPERVISED);
  const killPart = ({ pid }: ServiceProcess) => Deno.kill(pick(childrenOf(pid)), "SIGKILL");
  return { ...await openFile(start), instances: 1, killPart };
}

async function openDenokv(): Promise<Engine> {
  const server = await DENOKV.start();
  const fail = () => server.kill().then(() => server.start());
  return await engineOn(server, server.address, { env: server.env, fail });
}

async function openPostgres(): Promise<Engine> {
  const pair = await startPair();
  const start = (kills: number) => startInTurn(pair.address, kills);
  const fail = () => pair.failOver().then(() => pair.repair());
  return await engineOn(pair, pair.address, { start, fail });
}

export async function openFile(
  start = (kvPath: string, _kills: number) => ServiceProcess.start(kvPath),
): Promise<Engine> {
  const temp = await TempStore.make();
  return await engineOn(temp, temp.kvPath, { start: (kills) => start(temp.kvPath, kills) });
}

async function engineOn(
  owner: AsyncDisposable,
  store: string,
  { env, ...own }: Partial<Engine> & { env?: Record<string, string> },
): Promise<Engine> {
  const { token } = await useRealStore(store, (it) => issueApiKey(it, { label: "judge" }), env);
  const start = () => ServiceProcess.start(store, env);
  const dispose = () => owner[Symbol.asyncDispose]();
  const auditStore = () => useRealStore(store, audit, env);
  return { token, instances: 2, start, audit: auditStore, ...own, [Symbol.asyncDispose]: dispose };
}

/** Judges a number of long histories of each engine. Rejects unless Porcupine finds all of them linearizable. */
export async function judgeEngines(histories: number): Promise<void> {
  await installChecker();
  for (const [name, { needs, open }] of Object.entries(ENGINES)) {
    if (!needs.every(({ isMet }) => isMet)) continue;
    for (let history = 1; history <= histories; history++) await expectLinearizable(name, open);
  }
}

export async function expectLinearizable(
  name: string,
  open: () => Promise<Engine>,
  kills = KILLS,
): Promise<void> {
  await using engine = await open();
  const { verdict, summary } = await judge(engine, kills);
  console.log(`${name}: ${summary}`);
  assertEquals(verdict, "Ok", "See .cache/judge/history.json.html");
  const { sound, faults, noteCounts } = await engine.audit();
  assert(sound, JSON.stringify(faults));
  assertEquals(noteCounts.idempotency_key_repeated, undefined);
}
