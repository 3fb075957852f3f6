/** Creates of the service beside the same records written by raw KV. */

import type { HttpRow } from "./http_bench.ts";
import { additionRecords, rawWrite } from "./raw_kv.ts";
import { printTable } from "./table.ts";

export async function benchRaw(folder: string, http: HttpRow[]) {
  const rows = [];
  for (
    const [name, perCommit] of [["create, c=1", 1], ["create, c=64", 64], [
      "create, c=256",
      256,
    ]] as const
  ) {
    const additions = perCommit === 1 ? 1_000 : 100 * perCommit;
    // Three records an addition, and one more a commit.
    const records = additionRecords(additions, perCommit);
    const perSecond = await rawWrite(
      `${folder}/raw-${perCommit}.sqlite3`,
      records,
      3 * perCommit + 1,
    );
    const raw = perSecond * perCommit / (3 * perCommit + 1);
    const service = http.find((row) => row.name === name)?.service.perSecond ?? NaN;
    rows.push({ name, service, raw, ratio: service / raw });
  }
  printTable(
    "Creates a second beside raw KV, which writes the same records, as many additions a commit as clients",
    ["", "service/s", "raw KV/s", "ratio"],
    rows.map(({ name, service, raw, ratio }) => [name, service, raw, ratio]),
  );
  return rows;
}
