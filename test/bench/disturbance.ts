/**
 * Measures reads by id beside clients that read large pages, and beside followers that catch up. To compare with
 * another checkout, run it there, too.
 *
 *     deno run --allow-all test/bench/disturbance.ts [--seconds S] [--events N] [--busy N] [--only TEXT]
 */

import { EXIT, runCommand, UsageError } from "../../scripts/cli/run_command.ts";
import { fillStore } from "../support/fill_store.ts";
import { readLines } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";
import { addLargePets } from "./large_pets.ts";
import { requestBytes, runLoad } from "./load.ts";
import { ROOT, startService } from "./processes.ts";

const DISTURBANCE = {
  title: "Measures reads by id beside others who need much of the service",
  details:
    `Prints p50 and p99 of the reads in ms, large pages per second, seconds of a follower for the
    whole log, and the peak of the resident memory.`,
  usage: [],
  examples: () => [
    "deno run --allow-all test/bench/disturbance.ts [--seconds S] [--events N] [--busy N] [--only TEXT]",
  ],
  flags: {
    "--seconds S": "how long each measurement takes (default: 10)",
    "--events N": "number of small events in the log (default: 150000)",
    "--busy N": "number of other processes that need a core (default: 0)",
    "--only TEXT": "only measurements with this text in their names, for example gzip",
  },
  variables: [],
  exits: "0 done, 2 could not run",
} as const;

interface Others {
  name: string;
  pages?: number;
  coding?: "gzip";
  /** Whether each request wants another page, which is seldom cached. */
  isAnyPage?: true;
  followers?: number;
}

const OTHERS: Others[] = [
  { name: "nobody" },
  { name: "8 readers of one page", pages: 8 },
  { name: "8 readers of one page, gzip", pages: 8, coding: "gzip" },
  { name: "8 readers of any page", pages: 8, isAnyPage: true },
  { name: "8 readers of any page, gzip", pages: 8, isAnyPage: true, coding: "gzip" },
  { name: "1 follower", followers: 1 },
  { name: "10 followers", followers: 10 },
  { name: "100 followers", followers: 100 },
  { name: "1 follower, 8 readers of any page", followers: 1, pages: 8, isAnyPage: true },
];

/** Pause between two reads, in milliseconds, so that they come at any moment. */
const PAUSE_MS = 2;

const WARM_UP_MS = 2_000;

await runCommand(DISTURBANCE, {
  async run({ seconds = "10", events = "150000", busy = "0", only = "" }) {
    const cases = OTHERS.filter(({ name }) => name.includes(only));
    if (cases.length === 0) {
      const names = OTHERS.map(({ name }) => JSON.stringify(name));
      throw new UsageError(`--only takes a part of one of these names: ${names.join(", ")}`);
    }
    await using temp = await TempStore.make();
    await fillStore(temp.kvPath, Number(events));
    const { token, lastPet } = await addLargePets(temp.kvPath);
    const spinning = Array.from({ length: Number(busy) }, () => deno("eval", "for (;;);"));
    try {
      for (const others of cases) {
        await measure(others, temp.kvPath, token, lastPet, Number(seconds));
      }
    } finally {
      spinning.forEach(kill);
    }
    return EXIT.done;
  },
});

async function measure(
  { name, pages = 0, coding, isAnyPage, followers = 0 }: Others,
  kvPath: string,
  token: string,
  lastPet: number,
  seconds: number,
): Promise<void> {
  await using service = await startService(kvPath, { root: ROOT });
  const options = [pages, coding ?? "plain", isAnyPage ? "any" : "cached", followers];
  const others = deno(
    ...["run", "--quiet", "--no-check", "--allow-net", "test/bench/disturb.ts"],
    ...[service.port, token, lastPet, ...options].map(String),
  );
  let pagesRead = 0;
  const followedMs: number[] = [];
  const reading = readLines(others.stdout, (line) => {
    if (line === "page") pagesRead++;
    else followedMs.push(Number(line));
  });
  const read = (ms: number) => {
    const next = () => {
      const path = `/v1/pets/${1 + Math.floor(Math.random() * 500)}`;
      return requestBytes({ method: "GET", path, headers: { authorization: `Bearer ${token}` } });
    };
    return runLoad({ port: service.port, connections: 1, ms, next, pauseMs: PAUSE_MS });
  };
  await read(WARM_UP_MS);
  pagesRead = 0;
  const { p50Ms, p99Ms, failures } = await read(seconds * 1_000);
  const pagesPerSecond = pagesRead / seconds;
  kill(others);
  await reading;
  const followedSeconds = followedMs.map((ms) => (ms / 1_000).toFixed(1)).join(", ");
  console.log(
    `${name.padEnd(34)} p50 ${p50Ms.toFixed(1)} p99 ${p99Ms.toFixed(1)} ms; ` +
      `${pagesPerSecond.toFixed(0)} pages/s; the log in ${followedSeconds || "-"} s; ` +
      `${service.memoryMiB().toFixed(0)} MiB; ${failures} failures`,
  );
}

function deno(...args: string[]): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args,
    cwd: ROOT,
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
}

function kill(process: Deno.ChildProcess): void {
  try {
    process.kill("SIGKILL");
  } catch {
    // Without readers and followers, it has ended.
  }
}
