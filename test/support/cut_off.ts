import { sha256Hex } from "eventstore-less/parts";
import { HEAD_KEY, LOG_PREFIX } from "../../src/eventstore_less/keyspace.ts";
import { encodeHead, readHead } from "../../src/eventstore_less/log/head.ts";
import { readLog } from "../../src/eventstore_less/log/read_log.ts";
import type { Mutation, Store } from "../../src/eventstore_less/store/store.ts";
import { APPLICATION } from "../../src/application.ts";
import { set } from "./store_contract.ts";

/** Removes the last record of the log, and puts the head before it back, as an older copy of the store has it. */
export async function cutOff(store: Store): Promise<Mutation[]> {
  const { head } = await readHead(APPLICATION, store);
  const records = { limit: 2, reverse: true };
  const [last, { key }] = await store.list({ prefix: LOG_PREFIX }, records);
  const position = key[1] as number;
  const [[{ line }]] = await Array.fromAsync(readLog(store, { from: position, to: position }));
  const older = { ...head, position, lastHash: sha256Hex(line) };
  return [{ type: "delete", key: last.key }, set(HEAD_KEY, encodeHead(APPLICATION, older))];
}
