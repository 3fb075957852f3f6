/** What can happen in a story besides its requests, to the service of a test. */

import { petKey } from "../../src/animals/pet_keys.ts";
import { CATEGORIES_LIMIT } from "../../src/categories/write_category.ts";
import { QUEUE_LIMIT } from "../../src/eventstore_less/append/command_queue.ts";
import { encodeConsumerRecord } from "../../src/eventstore_less/consumers/consumer_record.ts";
import { consumersKey, projectionKey } from "../../src/eventstore_less/keyspace.ts";
import type { StoreEntry } from "../../src/eventstore_less/store/store.ts";
import { StoreClosedError } from "../../src/eventstore_less/store/store_errors.ts";
import { revokeApiKey, rotateApiKey } from "../../src/keys/write_api_key.ts";
import { consumerOfWebhook } from "../../src/webhooks/delivery/consumer_of_webhook.ts";
import { disableWebhook } from "../../src/webhooks/delivery/disable_webhook.ts";
import { WEBHOOKS_COLLECTION } from "../../src/webhooks/webhook_counts.ts";
import { WEBHOOKS_LIMIT } from "../../src/webhooks/write_webhook.ts";
import { addPetCommand } from "../support/add_pet_command.ts";
import { COMMIT_FAULTS } from "../support/faulty_store.ts";
import { commit } from "../support/store_contract.ts";
import type { TestService } from "../support/test_service.ts";

const HOUR_MS = 60 * 60 * 1_000;

/** The service of a test, and the id of its key that may only read. */
export interface Teller {
  service: TestService;
  readerId: string;
}

type Happening = (teller: Teller, word: string) => unknown;

/** In the words of a story, of which one may be another. */
const HAPPENINGS: [words: RegExp, happening: Happening][] = [
  [
    /^(\d+) hours? pass(?:es)?$/,
    ({ service }, hours) => service.runtime.advance(Number(hours) * HOUR_MS),
  ],

  // An operator's commands.
  [/^the read-only key is revoked$/, ({ service, readerId }) => revokeApiKey(service, readerId)],
  [
    /^the read-only key is replaced, and valid for (\d+) hours more$/,
    ({ service, readerId }, hours) =>
      rotateApiKey(service, readerId, { overlapMs: Number(hours) * HOUR_MS }),
  ],

  [/^1,000 categories get names$/, ({ service }) => nameCategories(service)],
  [/^100 webhooks are added$/, ({ service }) => addWebhooks(service)],
  [/^the endpoint is gone$/, ({ service }) => disableWebhooks(service)],
  [/^nobody knows the places of consumers$/, ({ service }) => stopConsumers(service)],
  [
    /^the receivers of webhooks are full$/,
    ({ service: { receivers } }) => Object.assign(receivers, { status: 507, answer: "Full" }),
  ],

  // Faults of the store.
  [/^the disk is full$/, ({ service }) => service.faults.onCommit = COMMIT_FAULTS.isFull],
  [/^the store confirms no write$/, ({ service }) => service.faults.onCommit = COMMIT_FAULTS.hangs],
  [/^the next write is stored, but reported as failed$/, ({ service }) => {
    service.faults.nextCommits.push(COMMIT_FAULTS.landsAndFails);
  }],
  [/^the store cannot be read$/, ({ service }) => failReads(service, new Error("secret"))],
  [
    /^the service has closed its store$/,
    ({ service }) => failReads(service, new StoreClosedError()),
  ],
  [/^the record of animal (\d+) is damaged$/, ({ service }, id) => {
    const key = projectionKey(1, petKey("sold", Number(id)));
    readInstead(service, { key, value: "{}", versionstamp: "1" });
  }],
  [/^the service fails unexpectedly$/, ({ service }) => readInstead(service, undefined)],
  [/^too many requests wait for a commit$/, ({ service }) => fillQueue(service)],
  [/^all is well again$/, ({ service }) => repair(service)],
];

/** Throws if nothing is known by these words. */
export async function happen(words: string, teller: Teller): Promise<void> {
  for (const [pattern, happening] of HAPPENINGS) {
    const match = pattern.exec(words);
    if (match === null) continue;
    await happening(teller, match[1]);
    return;
  }
  throw new Error(`Nothing that can happen in a story: ${words}`);
}

/** Ends the faults. */
export function repair({ faults }: TestService): void {
  const passOn = <T>(apply: () => Promise<T>) => apply();
  Object.assign(faults, { onGet: passOn, onList: passOn, onSnapshot: passOn, onCommit: passOn });
}

function failReads({ faults }: TestService, error: Error): void {
  const fail = () => Promise.reject(error);
  Object.assign(faults, { onGet: fail, onList: fail, onSnapshot: fail });
}

/** Names as many categories as may have names, without requests. */
async function nameCategories({ appender, keyId, runtime }: TestService): Promise<void> {
  const time = new Date(runtime.now()).toISOString();
  const named = Array.from({ length: CATEGORIES_LIMIT }, (_, index) => {
    const data = { id: BigInt(index), name: `Category ${index}` };
    const event = { id: runtime.newId(), time, actor: keyId, type: "CategoryNamed", data } as const;
    return appender.append({ prepare() {}, decide: () => [event] });
  });
  await Promise.all(named);
}

/** Adds as many webhooks as there may be. */
async function addWebhooks({ addWebhook }: TestService): Promise<void> {
  for (let number = 1; number <= WEBHOOKS_LIMIT; number++) {
    await (await addWebhook({ url: `https://shop.example/${number}` })).body?.cancel();
  }
}

/** As the deliveries do after 410. */
async function disableWebhooks({ append, heads, webhooks }: TestService): Promise<void> {
  const { head } = await heads.fresh();
  const { byId } = await webhooks.asOf(head);
  for (const webhook of byId.values()) await disableWebhook({ append, webhooks }, webhook, "gone");
}

/** As an instance notes it in a restored store. */
async function stopConsumers({ faults, heads, webhooks }: TestService): Promise<void> {
  const { head } = await heads.fresh();
  const { byId } = await webhooks.asOf(head);
  const stopped = [...byId.keys()].map(consumerOfWebhook);
  const record = { write: 0, since: head.position, places: {}, stopped };
  const key = consumersKey(WEBHOOKS_COLLECTION);
  const value = encodeConsumerRecord(WEBHOOKS_COLLECTION, record);
  await commit(faults, [{ type: "set", key, value }]);
}

/** Each list has only this entry, which is none if the store has a fault. */
function readInstead({ faults }: TestService, entry: StoreEntry | undefined): void {
  faults.onSnapshot = async (apply, _keys, ranges) => {
    const read = await apply();
    return ranges.length === 0 ? read : { ...read, lists: [[entry as StoreEntry]] };
  };
}

/** Lets a commit begin that does not end, and fills the queue of those that wait for it. */
async function fillQueue({ appender, faults, keyId, runtime, token }: TestService): Promise<void> {
  faults.onCommit = COMMIT_FAULTS.hangs;
  for (let wave = 0; wave < 2; wave++) {
    for (let count = 0; count < QUEUE_LIMIT; count++) {
      const command = addPetCommand(runtime, keyId, { name: "Rex", categoryId: 1n });
      appender.append({ ...command, owner: token }).catch(() => {});
    }
    await runtime.advance(0);
  }
}
