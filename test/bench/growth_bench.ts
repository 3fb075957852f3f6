/** What each operation costs in stores of different size. */

import { fillStore } from "./fill_store.ts";
import { measure, type Operation, OPERATIONS } from "./http_bench.ts";
import { startService } from "./server_process.ts";
import { printTable } from "./table.ts";

interface GrowthRow {
  pets: number;
  startMs: number;
  memoryMiB: number;
  costs: { name: string; perSecond: number; cpuUs: number; failures: number }[];
}

export async function benchGrowth(folder: string, sizes: number[], ms: number) {
  const path = `${folder}/growth.sqlite3`;
  const rows: GrowthRow[] = [];
  for (const pets of sizes) {
    const token = await fillStore(path, pets);
    const service = await startService(path);
    const operations: Operation[] = [
      ...OPERATIONS,
      { ...OPERATIONS[0], name: "read by id, the oldest", path: "/v1/pets/1" },
      { ...OPERATIONS[1], name: "list, from the middle", path: `/v1/pets?cursor=${pets / 2}` },
      // At first most of them are read from the store, and in the end none.
      { ...OPERATIONS[0], name: "read by id, at random", path: "/v1/pets/{id}", ids: pets },
      { ...OPERATIONS[0], name: "the same, later", path: "/v1/pets/{id}", ids: pets },
      { ...OPERATIONS[0], name: "the same, later still", path: "/v1/pets/{id}", ids: pets },
    ];
    const costs = [];
    for (const operation of operations) {
      const { perSecond, cpuUs, failures } = await measure(service, token, operation, ms);
      costs.push({ name: operation.name, perSecond, cpuUs, failures });
    }
    rows.push({ pets, startMs: service.startMs, costs, memoryMiB: service.memoryMiB() });
    await service.stop();
  }
  printTable(
    "Growth: requests a second, and processor time a request, by number of pets",
    ["", ...sizes.flatMap((size) => [`${size.toLocaleString("en")}: /s`, "cpu µs"])],
    [
      ...rows[0].costs.map(({ name }, index) => [
        name,
        ...rows.flatMap(({ costs }) => [costs[index].perSecond, costs[index].cpuUs]),
      ]),
      ["start to first answer, ms", ...rows.flatMap(({ startMs }) => [startMs, NaN])],
      ["memory afterwards, MiB", ...rows.flatMap(({ memoryMiB }) => [memoryMiB, NaN])],
    ],
  );
  return rows;
}
