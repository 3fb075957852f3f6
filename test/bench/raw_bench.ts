/** Creates of the service, compared with raw KV that writes the same records. */

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
    // Three records per addition, and one more per commit.
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
    "Creates per second compared with raw KV, which writes the same records, one addition per client in a commit",
    ["", "service/s", "raw KV/s", "ratio"],
    rows.map(({ name, service, raw, ratio }) => [name, service, raw, ratio]),
  );
  return rows;
}
