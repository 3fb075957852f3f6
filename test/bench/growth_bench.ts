/** The cost of each operation in stores of different sizes. */

import { fillStore } from "../support/fill_store.ts";
import { measure, type Operation, OPERATIONS } from "./http_bench.ts";
import type { Measured } from "./load.ts";
import { type ServerProcess, startService } from "./server_process.ts";
import { printTable } from "./table.ts";

interface GrowthRow {
  name: string;
  /** One value per size, in order. */
  costs: (Measured & { cpuUs: number })[];
}

export async function benchGrowth(folder: string, sizes: number[], ms: number) {
  const services: { pets: number; token: string; service: ServerProcess }[] = [];
  for (const pets of sizes) {
    const path = `${folder}/growth-${pets}.sqlite3`;
    const token = await fillStore(path, pets);
    services.push({ pets, token, service: await startService(path) });
  }
  const rows: GrowthRow[] = [];
  for (const { name, of } of GROWING) {
    const costs = [];
    // The sizes take turns, so that other load on the machine affects all of them.
    for (const { pets, token, service } of services) {
      costs.push(await measure(service, token, of(pets), ms));
    }
    rows.push({ name, costs });
  }
  const startMs = services.map(({ service }) => service.startMs);
  const memoryMiB = services.map(({ service }) => service.memoryMiB());
  for (const { service } of services) await service.stop();
  printTable(
    "Growth: requests a second, and processor time a request, by number of pets",
    ["", ...sizes.flatMap((size) => [`${size.toLocaleString("en")}: /s`, "cpu µs"])],
    [
      ...rows.map(({ name, costs }) => [
        name,
        ...costs.flatMap(({ perSecond, cpuUs }) => [perSecond, cpuUs]),
      ]),
      ["start to first answer, ms", ...startMs.flatMap((ms) => [ms, NaN])],
      ["memory afterwards, MiB", ...memoryMiB.flatMap((mib) => [mib, NaN])],
    ],
  );
  return { sizes, rows, startMs, memoryMiB };
}

/** The operations and their requests for a store with that many pets. */
const GROWING: { name: string; of: (pets: number) => Operation }[] = [
  ...OPERATIONS.map((operation) => ({ name: operation.name, of: () => operation })),
  {
    name: "read by id, the oldest",
    of: () => ({ ...OPERATIONS[0], path: "/v1/pets/1" }),
  },
  {
    name: "list, from the middle",
    of: (pets) => ({ ...OPERATIONS[1], path: `/v1/pets?cursor=${pets / 2}` }),
  },
  // At first, the service reads most of them from the store, and in the end none.
  ...["read by id, at random", "the same, later", "the same, later still"].map((name) => ({
    name,
    of: (pets: number) => ({ ...OPERATIONS[0], path: "/v1/pets/{id}", ids: pets }),
  })),
];
