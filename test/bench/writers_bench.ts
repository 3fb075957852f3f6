/** Reads beside additions, on this machine's disk and on a slow one. */

import { fillByCheckout } from "./fill_by_checkout.ts";
import { measure, OPERATIONS, runOperation } from "./http_bench.ts";
import { type ServerProcess, startService } from "./server_process.ts";
import { median, printTable, sum } from "./table.ts";

/** Number of pets in each store at first. */
const PETS = 10_000;

const WRITERS = { ...OPERATIONS.find(({ method }) => method === "POST")!, connections: 8 };

const READS = OPERATIONS.filter(({ method }) => method === "GET").slice(0, 2);

/** How much longer each fsync takes, in milliseconds. */
const DELAYS = [0, 5];

export interface WritersSample {
  alonePerSecond: number;
  perSecond: number;
  /** The rate beside the writers, as a share of the rate alone. */
  share: number;
  p50Ms: number;
  addedPerSecond: number;
  /** Processor time of the service alone, per read. */
  aloneCpuUs: number;
  failures: number;
}

/** Measures each checkout in turns: this one, and possibly another one. */
export async function benchWriters(
  folder: string,
  roots: URL[],
  { rounds, ms }: { rounds: number; ms: number },
) {
  const library = await buildLibrary(folder);
  const rows: { name: string; samples: WritersSample[] }[] = [];
  for (const delayMs of DELAYS) {
    const env = { LD_PRELOAD: library, FSYNC_DELAY_US: `${delayMs * 1_000}` };
    const services: { service: ServerProcess; token: string }[] = [];
    try {
      for (const [index, root] of roots.entries()) {
        const path = `${folder}/writers-${delayMs}-${index}.sqlite3`;
        const token = await fillByCheckout(root, path, PETS);
        services.push({ token, service: await startService(path, root, env) });
      }
      for (const read of READS) {
        const measured = services.map((_, index) => ({
          name: `${read.name}, fsync + ${delayMs} ms, ${index === 0 ? "this" : "other"}`,
          samples: [] as WritersSample[],
        }));
        for (let round = 0; round < rounds; round++) {
          const turns = [...services.entries()];
          if (round % 2 === 1) turns.reverse();
          for (const [index, { service, token }] of turns) {
            const alone = await measure(service, token, read, ms);
            const [beside, added] = await Promise.all([
              runOperation(service, token, read, ms),
              runOperation(service, token, WRITERS, ms),
            ]);
            measured[index].samples.push({
              alonePerSecond: alone.perSecond,
              perSecond: beside.perSecond,
              share: beside.perSecond / alone.perSecond,
              p50Ms: beside.p50Ms,
              addedPerSecond: added.perSecond,
              aloneCpuUs: alone.cpuUs,
              failures: alone.failures + beside.failures + added.failures,
            });
          }
        }
        rows.push(...measured);
      }
    } finally {
      for (const { service } of services) await service.stop();
    }
  }
  const failures = sum(rows.flatMap(({ samples }) => samples.map(({ failures }) => failures)));
  printTable(
    `64 readers beside 8 writers, medians (rounds: ${rounds}; failures: ${failures})`,
    ["", "alone/s", "beside/s", "share", "p50 ms", "adds/s", "alone cpu µs"],
    rows.map(({ name, samples }) => {
      const medianOf = (field: keyof WritersSample) => median(samples.map((own) => own[field]));
      return [
        name,
        medianOf("alonePerSecond"),
        medianOf("perSecond"),
        medianOf("share"),
        medianOf("p50Ms"),
        medianOf("addedPerSecond"),
        medianOf("aloneCpuUs"),
      ];
    }),
  );
  return { rows, failures };
}

/** Compiles the library that delays fsync(). */
async function buildLibrary(folder: string): Promise<string> {
  const library = `${folder}/slow_fsync.so`;
  const source = new URL("slow_fsync.c", import.meta.url).pathname;
  const { success } = await new Deno.Command("cc", {
    args: ["-shared", "-fPIC", "-o", library, source],
    stdout: "inherit",
    stderr: "inherit",
  }).spawn().status;
  if (!success) throw new Error("cc cannot compile slow_fsync.c");
  return library;
}
