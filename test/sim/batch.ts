/** Several writes in one request, and what they are as single requests: the checker knows only these. */

import { createHash } from "node:crypto";
import type { Batch, KeyInUse, ReceivedResponse, WriteOperation } from "./history.ts";

/** The writes of a batch, each with its place. */
export function partsOf(batch: Batch): WriteOperation[] {
  const { writes, idempotencyKey } = batch;
  const hash = createHash("sha256").update(JSON.stringify(operationsOf(batch))).digest("hex");
  return writes.map((write, index) => {
    return { ...write, idempotencyKey, part: { batch: hash, index, count: writes.length } };
  });
}

export function batchRequestOf(batch: Batch, { token }: KeyInUse): Request {
  const headers = new Headers({
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
  });
  const { idempotencyKey } = batch;
  if (idempotencyKey !== undefined) headers.set("idempotency-key", idempotencyKey);
  const body = JSON.stringify({ operations: operationsOf(batch) });
  return new Request("http://localhost/v1/pets/batch", { method: "POST", headers, body });
}

/** The operations in the order of the members in the interface, of which the log has the hash. */
function operationsOf({ writes }: Batch): object[] {
  return writes.map((write) => {
    if (write.kind === "create") {
      const { name, status, categoryId } = write;
      return { action: "add", body: { name, status, categoryId } };
    }
    const { id: petId, ifMatch } = write;
    if (write.kind !== "update") return { action: write.kind, petId, ifMatch };
    return { action: "change", petId, ifMatch, body: write.patch };
  });
}

/** The responses to the parts: those in the results, or the error that refuses the batch. */
export async function readResults(response: Response, count: number): Promise<ReceivedResponse[]> {
  const { status, headers } = response;
  const text = await response.text();
  if (status !== 200) return Array<ReceivedResponse>(count).fill({ status, headers, body: text });
  const { results } = JSON.parse(text);
  return results.map(({ status, etag, body }: { status: number; etag?: string; body: unknown }) => {
    const headers = new Headers(etag === undefined ? {} : { etag });
    return { status, headers, body: body === undefined ? "" : JSON.stringify(body) };
  });
}
