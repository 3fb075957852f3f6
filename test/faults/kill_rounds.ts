/**
 * Kills real processes, one in each round.
 *
 *     deno task faults [--rounds N | --cuts N | --judge N]
 */

import { assertEquals, assertGreater } from "@std/assert";
import { setTimeout as sleep } from "node:timers/promises";
import { decodeEvent, type RecordedEvent } from "../../events/event.ts";
import { sha256Hex } from "../../src/encoding/sha256.ts";
import { readHead } from "../../src/log/head.ts";
import { until } from "../support/until.ts";
import { storeVariables } from "../support/real_store.ts";
import { DENO_RUN, readLines, ServiceProcess } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";
import { LoadClient } from "../support/load_client.ts";

const CONNECTIONS = 16;

/** What clients follow, whatever is killed, and which events of the log that is. */
const FOLLOWED: FollowOptions[] = [
  { isStream: false, query: "limit=20&timeout=500", isWanted: () => true },
  { isStream: true, query: "", isWanted: () => true },
  {
    isStream: true,
    query: "type=PetUpdated&status=sold",
    isWanted: ({ type, data }) =>
      type === "PetUpdated" && [data.status, data.previous.status].includes("sold"),
  },
];

interface FollowOptions {
  isStream: boolean;
  query: string;
  isWanted(event: RecordedEvent): boolean;
}

/** The commands that are killed; `folder` is where they put their files. */
const commandsIn = (folder: string) => [
  ["replay", "--grace", "0.2"],
  ["audit"],
  ["backup", `${folder}/pets.jsonl`, "--follow"],
  ["publish", `${folder}/published`, "--key", `${folder}/log.key`, "--origin", "log.example"],
  ["log"],
  ["keys", "issue", "--label", "round"],
];

/**
 * Two services and a command on one store file, under load. In every round, one of them is killed at a random
 * moment. After it, every acknowledged change is stored once, and shown. At the end, every acknowledged pet
 * must be stored, backed up and published, and those who follow have each event of the exported log once, in order.
 */
export async function killRounds(rounds: number) {
  await using temp = await TempStore.make();
  await using kept = await TempStore.make();
  const commands = commandsIn(kept.folder);
  const token = await temp.issueKey();
  await expectDone(["publish", "--new-key", `${kept.folder}/log.key`], temp);
  const counts = { killedServices: 0, killedCommands: 0, events: 0 };
  const start = () => ServiceProcess.start(temp.kvPath);
  const services = await Promise.all([start(), start()]);
  const load = new LoadClient({
    services: () => services,
    token,
    connections: CONNECTIONS,
    faults: "process",
    changes: true,
  });
  const following = FOLLOWED.map((options) => follow(() => services, token, options));
  try {
    let isOver = false;
    const running = load.run(() => isOver);
    for (let round = 1; round <= rounds; round++) {
      const command = runCommand(commands[round % commands.length], temp.kvPath);
      await sleep(50 + Math.random() * 1_000);
      const victim = Math.floor(Math.random() * 3);
      // A command that follows the log does not end by itself.
      if (victim < 2 && !command.follows) {
        await services[victim].stop("SIGKILL");
        services[victim] = await start();
        counts.killedServices++;
      } else {
        counts.killedCommands += await command.kill() ? 1 : 0;
      }
      await command.ended;
      for (const service of services) await load.expectFresh(service);
      await temp.use((service) => load.expectChanges(service));
    }
    isOver = true;
    await running;
    // They finish the work of killed ones.
    await expectDone(["replay", "--grace", "0"], temp);
    const [, , [, file], [, published]] = commands;
    for (const command of commands.slice(2, 4)) {
      await expectDone(command.filter((it) => it !== "--follow"), temp);
    }
    await expectDone(["audit", "--published", published], temp);
    await expectDone(["restore", file], kept);
    await expectDone(["audit", "--published", published], kept);
    for (const service of services) await load.expectServed(service);
    await temp.use((service) => load.expectLogged(service));
    counts.events = await temp.use(async ({ store }) => (await readHead(store)).head.position);
    const lines = (await Deno.readTextFile(file)).trimEnd().split("\n");
    for (const { ids, hasReached, isWanted } of following) {
      await until(() => hasReached(counts.events));
      const logged = lines.filter((line) => {
        const event = decodeEvent(line);
        return event.type.startsWith("Pet") && isWanted(event);
      });
      const expected = logged.map((line) =>
        `${JSON.parse(line).sequence}-${sha256Hex(line).slice(0, 16)}`
      );
      assertEquals(ids, expected);
      assertGreater(ids.length, 0);
    }
  } finally {
    for (const { stop } of following) await stop();
    for (const service of services) await service.stop("SIGKILL");
  }
  return { ...counts, load };
}

/** A client that follows the events of services, and after each break resumes at any of them. */
function follow(services: () => ServiceProcess[], token: string, options: FollowOptions) {
  const ids: string[] = [];
  const { isStream, query } = options;
  const leave = new AbortController();
  let lastId = "";
  const readStream = async (body: ReadableStream<Uint8Array>) => {
    let message: Record<string, string> = {};
    await readLines(body, (line) => {
      const [, name, value] = /^(\w*): ?(.*)$/.exec(line) ?? [];
      if (name !== undefined) return void (message[name] = value);
      // Only an empty line ends a message.
      if (line !== "") return;
      if (message.data !== undefined) {
        const { id, type } = JSON.parse(message.data);
        assertEquals([message.id, message.event], [id, type]);
        ids.push(id);
      }
      lastId = message.id ?? lastId;
      message = {};
    });
  };
  const readBatch = async (response: Response) => {
    for (const { id } of await response.json()) ids.push(id);
    lastId = /lastEventId=([\w-]+)/.exec(response.headers.get("link")!)![1];
  };
  const running = (async () => {
    while (!leave.signal.aborted) {
      const { address } = services()[Math.floor(Math.random() * 2)];
      const headers: Record<string, string> = { authorization: `Bearer ${token}` };
      if (isStream) headers.accept = "text/event-stream";
      if (lastId !== "") headers["last-event-id"] = lastId;
      const init = { headers, signal: leave.signal };
      try {
        const response = await fetch(`${address}/v1/events?${query}`, init);
        if (response.status !== 200) assertEquals(response.status, 503, await response.text());
        else await (isStream ? readStream(response.body!) : readBatch(response));
      } catch (error) {
        // The connection broke.
        if (!(error instanceof TypeError || leave.signal.aborted)) throw error;
        await sleep(20);
      }
    }
  })();
  running.catch(() => {});
  const hasReached = (position: number) => parseInt(lastId) >= position;
  return { ids, hasReached, stop: () => (leave.abort(), running), isWanted: options.isWanted };
}

async function expectDone(command: string[], { kvPath }: TempStore): Promise<void> {
  const { code, stderr } = await runCommand(command, kvPath).ended;
  assertEquals(code, 0, stderr);
}

function runCommand([script, ...args]: string[], kvPath: string) {
  // Without a launcher, so that SIGKILL ends the command itself.
  const child = new Deno.Command(DENO_RUN[0], {
    args: [...DENO_RUN.slice(1), `scripts/${script}/main.ts`, ...args],
    cwd: new URL("../../", import.meta.url),
    env: { NO_COLOR: "1", ...storeVariables(kvPath) },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const ended = child.output().then(({ code, stderr }) => {
    return { code, stderr: new TextDecoder().decode(stderr) };
  });
  /** Resolves to whether the command was still running. */
  const kill = async () => {
    try {
      child.kill("SIGKILL");
    } catch {
      return false;
    }
    return (await child.status).signal === "SIGKILL";
  };
  return { ended, kill, follows: args.includes("--follow") };
}

/** The function of each option. Its argument is the number of repetitions. */
const RUNS: Record<string, (count: number) => Promise<string | void>> = {
  async "--rounds"(rounds) {
    const { load, killedServices, killedCommands, events } = await killRounds(rounds);
    return `${rounds} rounds: ${killedServices} services and ${killedCommands} commands killed; ` +
      `additions: ${load.summary}; ${events} events; none lost or duplicated`;
  },
  "--cuts": async (cuts) => (await import("./power_cuts.ts")).powerCuts(cuts),
  "--judge": async (histories) => (await import("../judge/engines.ts")).judgeEngines(histories),
};

if (import.meta.main) {
  const [option = "--rounds", count = "50"] = Deno.args;
  const run = RUNS[option];
  if (run === undefined || !/^[1-9]\d{0,5}$/.test(count)) {
    console.error("error: Expected --rounds, --cuts or --judge, and a number from 1");
    Deno.exit(2);
  }
  console.log(await run(Number(count)) ?? "");
}
