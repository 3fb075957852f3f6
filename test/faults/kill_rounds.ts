/**
 * Kills real processes, one in each round.
 *
 *     deno task faults [--rounds N | --mixed N | --cuts N | --mixed-cuts N | --judge N]
 *     deno task faults --flips N [--pets N] [--seed N]
 *     deno task faults --fuzz N [--seed N]
 */

import { assertEquals } from "@std/assert";
import { setTimeout as sleep } from "node:timers/promises";
import { storeVariables } from "../support/real_store.ts";
import { outcomeOf } from "../support/run_task.ts";
import { installNode, startOn } from "../support/node_service.ts";
import { commandOf, RUNTIME, type RuntimeName } from "../support/programs.ts";
import { TempStore } from "../support/temp_store.ts";
import { LoadClient } from "../support/load_client.ts";
import { ROOT } from "../support/with_project_copy.ts";

const CONNECTIONS = 16;

/** So soon that clients often repeat an addition that has landed. */
const GIVE_UP_MS = 60;

/** The commands that are killed; `folder` is where they put their files. */
const commandsIn = (folder: string) => [
  ["replay", "--grace", "0.2"],
  ["audit"],
  ["backup", `${folder}/pets.jsonl`, "--follow"],
  ["publish", `${folder}/published`, "--key", `${folder}/log.key`, "--origin", "log.example"],
  ["log"],
  ["keys", "issue", "--label", "round"],
];

/** Names a store by a link to its file and by one to its folder, as an operator does who has moved it to a volume. */
async function linksTo({ folder, kvPath }: TempStore, parent: string): Promise<string[]> {
  const [file, linkedFolder] = [`${parent}/store.sqlite3`, `${parent}/volume`];
  await Deno.symlink(kvPath, file);
  await Deno.symlink(folder, linkedFolder);
  return [file, kvPath.replace(folder, linkedFolder)];
}

/**
 * Two services and a command on one store file, under load: clients give up additions and repeat them. Each service knows
 * the file by another link, and the command by its path. In every round,
 * one of them is killed at a random moment; a service starts again on the other runtime. After it, every acknowledged
 * change is stored once, and shown. At the end, every acknowledged pet must be stored, backed up and published.
 */
export async function killRounds(rounds: number, runtimes = [RUNTIME, RUNTIME]) {
  await using temp = await TempStore.make();
  await using kept = await TempStore.make();
  const commands = commandsIn(kept.folder);
  const token = await temp.issueApiKey();
  await expectDone(["publish", "--new-key", `${kept.folder}/log.key`], temp);
  const names = await linksTo(temp, kept.folder);
  let killed = 0;
  const start = (index: number) => startOn(runtimes[(index + killed) % 2], names[index]);
  const services = await Promise.all([start(0), start(1)]);
  const load = new LoadClient({
    services: () => services,
    token,
    connections: CONNECTIONS,
    faults: "process",
    changes: true,
    removals: true,
    giveUpMs: GIVE_UP_MS,
  });
  try {
    let isOver = false;
    const running = load.run(() => isOver);
    for (let round = 1; round <= rounds; round++) {
      const runtime = runtimes[Math.floor(round / commands.length) % 2];
      const command = runCommand(commands[round % commands.length], temp.kvPath, runtime);
      await sleep(50 + Math.random() * 1_000);
      const victim = Math.floor(Math.random() * 3);
      // A command that follows the log does not end by itself.
      if (victim < 2 && !command.follows) {
        await services[victim].stop("SIGKILL");
        killed++;
        services[victim] = await start(victim);
      } else {
        command.kill();
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
  } finally {
    for (const service of services) await service.stop("SIGKILL");
  }
  return { killed, load };
}

async function expectDone(command: string[], { kvPath }: TempStore): Promise<void> {
  const { code, stderr } = await runCommand(command, kvPath).ended;
  assertEquals(code, 0, stderr);
}

function runCommand(
  [script, ...args]: string[],
  kvPath: string,
  runtime = RUNTIME,
) {
  // Without Deno's task runner, so that SIGKILL ends the command itself.
  const [program, ...programArgs] = commandOf(script, "1", runtime);
  const child = new Deno.Command(program, {
    args: [...programArgs, ...args],
    cwd: ROOT,
    env: { NO_COLOR: "1", ...storeVariables(kvPath) },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const ended = outcomeOf(child);
  const kill = () => {
    try {
      child.kill("SIGKILL");
    } catch {
      // It has already exited.
    }
  };
  return { ended, kill, follows: args.includes("--follow") };
}

/** The function of each option. Its argument is the number of repetitions. */
const RUNS: Record<string, (count: number, others: Others) => Promise<string | void>> = {
  async "--rounds"(rounds) {
    const { load, killed } = await killRounds(rounds);
    return `${rounds} rounds, ${killed} of services: ${load.summary}; none lost or duplicated`;
  },
  async "--mixed"(rounds) {
    const { load, killed } = await killRounds(rounds, await bothRuntimes());
    return `${rounds} rounds on Deno and Node, ${killed} of services: ${load.summary}; none lost or duplicated`;
  },
  "--cuts": async (cuts) => (await import("./power_cuts.ts")).powerCuts(cuts),
  "--mixed-cuts": async (cuts) =>
    (await import("./power_cuts.ts")).powerCuts(cuts, undefined, await bothRuntimes()),
  "--judge": async (histories) => (await import("../judge/engines.ts")).judgeEngines(histories),
  async "--flips"(count, { pets, seed }) {
    const { describeCases, probeDamages } = await import("./flip_bits.ts");
    return describeCases(await probeDamages({ kind: "flip", count, pets, seed }));
  },
  async "--fuzz"(count, { seed }) {
    const { fuzzHttp } = await import("./fuzz_http.ts");
    const lines: string[] = [];
    for (const runtime of await bothRuntimes()) {
      const seeds = Array.from({ length: count }, (_, index) => seed + index);
      const { connections, responses } = await fuzzHttp({ runtime, seeds });
      const responded = `${responses} sound requests got their responses`;
      lines.push(`${connections} connections on ${runtime}: ${responded}`);
    }
    return lines.join("\n");
  },
};

async function bothRuntimes(): Promise<RuntimeName[]> {
  await installNode();
  return ["deno", "node"];
}

type Others = { pets: number; seed: number };

if (import.meta.main) {
  const [option = "--rounds", count = "50", ...others] = Deno.args;
  const [pets, seed] = [["--pets", "60"], ["--seed", "1"]].map(([name, byDefault]) => {
    const index = others.indexOf(name);
    return index === -1 ? byDefault : others[index + 1] ?? "";
  });
  const run = RUNS[option];
  const areNumbers = [count, pets, seed].every((text) => /^[1-9]\d{0,5}$/.test(text));
  if (run === undefined || !areNumbers) {
    const options = Object.keys(RUNS).join(", ");
    console.error(`error: Expected one of ${options}, and numbers from 1`);
    Deno.exit(2);
  }
  console.log(await run(Number(count), { pets: Number(pets), seed: Number(seed) }) ?? "");
  // Timers of services that have ended would keep the process for some seconds.
  Deno.exit(0);
}
