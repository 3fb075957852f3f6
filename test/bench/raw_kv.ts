/** Deno KV without the service: the upper limit of everything on disk. */

/** Entries of one read: the most that KV allows. */
const BATCH = 1_000;

/** The key of a record of the service, and a value of its size. */
export type RawRecord = [Deno.KvKey, string | Uint8Array];

/** Reads all entries of a store file in batches. Resolves to entries per second. */
export async function rawScan(path: string, prefix: Deno.KvKey): Promise<number> {
  const kv = await Deno.openKv(path);
  const start = performance.now();
  let entries = 0;
  for await (const _ of kv.list({ prefix }, { batchSize: BATCH })) entries++;
  const perSecond = entries / seconds(start);
  kv.close();
  return perSecond;
}

/** Writes records to a new store file, that many in a commit. Resolves to records per second. */
export async function rawWrite(
  path: string,
  records: Iterable<RawRecord>,
  perCommit: number,
): Promise<number> {
  const kv = await Deno.openKv(path);
  const start = performance.now();
  let written = 0;
  let atomic = kv.atomic();
  let waiting = 0;
  for (const [key, value] of records) {
    atomic.set(key, value);
    written++;
    if (++waiting < perCommit) continue;
    await atomic.commit();
    atomic = kv.atomic();
    waiting = 0;
  }
  await atomic.commit();
  const perSecond = written / seconds(start);
  kv.close();
  return perSecond;
}

/** Reads and removes the entries of a store file, that many in a commit. Resolves to entries per second. */
export async function rawRemove(
  path: string,
  prefix: Deno.KvKey,
  perCommit: number,
): Promise<number> {
  const kv = await Deno.openKv(path);
  const start = performance.now();
  let removed = 0;
  let atomic = kv.atomic();
  for await (const { key } of kv.list({ prefix }, { batchSize: BATCH })) {
    atomic.delete(key);
    if (++removed % perCommit > 0) continue;
    await atomic.commit();
    atomic = kv.atomic();
  }
  await atomic.commit();
  const perSecond = removed / seconds(start);
  kv.close();
  return perSecond;
}

/** The records of additions as the service writes them: line, pet, status, and one head per commit. */
export function* additionRecords(
  additions: number,
  perCommit: number,
): Generator<RawRecord> {
  const line = new Uint8Array(480).fill(120);
  const pet = "x".repeat(70);
  for (let id = 1; id <= additions; id++) {
    yield [["~log", id], line];
    yield [["projection", 1, "pet", id], pet];
    yield [["projection", 1, "pet_by_status", "available", id], pet];
    if (id % perCommit === 0) yield [["head"], "x".repeat(200)];
  }
}

function seconds(start: number): number {
  return (performance.now() - start) / 1_000;
}
