import { reasonOf } from "eventstore-less/startup";
import type { Listener } from "../../test/interface/tell.ts";

/** Throws, with one line, if the service does not answer or the keys are not what they should be. Adds nothing. */
export async function expectJudgeable(listener: Listener): Promise<void> {
  const { base, key, readOnlyKey } = listener;
  const listed = await answer(listener, key, "/pets?limit=1").catch((error) => {
    throw new Error(`${base} does not answer: ${reasonOf(error)}`);
  });
  expectAccepted(listed, "--key");
  if (listed.status === 404) throw new Error(`No animal store is at ${base}: GET /pets gets 404`);
  if (await isReadOnly(listener, key)) throw new Error("The key of --key may only read");
  if (readOnlyKey === undefined) return;
  expectAccepted(await answer(listener, readOnlyKey, "/pets?limit=1"), "--read-only-key");
  const mayWrite = await isReadOnly(listener, readOnlyKey) === false;
  if (mayWrite) throw new Error("The key of --read-only-key may write");
}

function expectAccepted({ status }: Response, flag: string): void {
  const isRefused = status === 401 || status === 403;
  if (isRefused) {
    throw new Error(`The service refuses the key of ${flag}: GET /pets gets ${status}`);
  }
}

/** `undefined` if the service does not describe keys, because the contract has no such operation. */
async function isReadOnly(listener: Listener, key: string): Promise<boolean | undefined> {
  const response = await answer(listener, key, "/key");
  if (response.status !== 200) return undefined;
  const { readOnly } = await response.json().catch(() => ({}));
  return typeof readOnly === "boolean" ? readOnly : undefined;
}

function answer({ base, send }: Listener, key: string, path: string) {
  const headers = { authorization: `Bearer ${key}` };
  return send(`${base}${path}`, { headers, redirect: "manual" });
}
