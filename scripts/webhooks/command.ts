import type { StoreOf } from "eventstore-less";
import { BackgroundWork, readConsumersOf, readProof } from "eventstore-less/parts";
import { type ConsumerReport, placeConsumer, ToolError } from "eventstore-less/tools";
import { CollectionReader } from "../../src/api/collection_reader.ts";
import { APPLICATION } from "../../src/application.ts";
import { escapeInvisible } from "../../src/runtime/escape_invisible.ts";
import { commandName } from "../../src/runtime/words.ts";
import { NO_INSTRUMENTATION } from "../../src/runtime/instrumentation.ts";
import { ConfigError, readWebhookConfig } from "../../src/settings/config.ts";
import { ATTEMPT_ERRORS, isConfirmed } from "../../src/webhooks/sending/attempt.ts";
import { AttemptLog, type NotedAttempt } from "../../src/webhooks/delivery/attempt_log.ts";
import { consumerOfWebhook } from "../../src/webhooks/delivery/consumer_of_webhook.ts";
import {
  Delivery,
  isDelivered,
  type Message,
  messageOf,
  testMessage,
} from "../../src/webhooks/delivery/delivery.ts";
import { deliveryStateOf } from "../../src/webhooks/delivery/delivery_state.ts";
import type { WebhookKeys } from "../../src/webhooks/secrets.ts";
import { CallableAddresses } from "../../src/webhooks/sending/callable_addresses.ts";
import { WebhookSender } from "../../src/webhooks/sending/webhook_sender.ts";
import {
  READ_WEBHOOKS,
  type WebhookReader,
  type WebhookRecord,
} from "../../src/webhooks/webhook_reader.ts";
import { parseCount } from "../cli/flag_values.ts";
import { formatCount, formatSecond, shorten } from "../cli/format.ts";
import {
  CommandRefusedError,
  EXIT,
  operatorCommand,
  print,
  say,
  withInstance,
} from "../cli/run_command.ts";
import { UsageError } from "../cli/table_entry.ts";

/** Maximum width of an address or a failure, in columns of a terminal. */
const TEXT_WIDTH = 60;

interface Flags {
  after?: string;
  event?: string;
  json?: boolean;
}

type Instance = StoreOf<typeof APPLICATION>;

/** A webhook, and its consumer in the store, if it has begun. */
interface ListedWebhook {
  webhook: WebhookRecord;
  consumer: ConsumerReport | undefined;
}

export const command = operatorCommand<Flags>({
  refusals: [ToolError],
  async run(flags, [action, id], usage) {
    expectUsage(usage.find((line) => line.split(" ")[1] === action), action, flags, id);
    if (action === "list") await list(flags);
    else if (action === "attempts") await showAttempts(id, flags);
    else if (action === "place") await place(id, flags);
    else return await send(id, flags);
  },
});

/** Throws unless the arguments are those that the usage of the action names. */
function expectUsage(
  usage: string | undefined,
  action: string | undefined,
  flags: Flags,
  id: string | undefined,
): void {
  if (usage === undefined) {
    const wrong = action === undefined ? "" : `, not ${JSON.stringify(action)}`;
    throw new UsageError(`Use list, attempts, place or send${wrong}`);
  }
  const flag = Object.keys(flags).find((name) => !usage.includes(`--${name}`));
  if (flag !== undefined) throw new UsageError(`--${flag} cannot be used with ${action}`);
  const takesId = usage.includes(" ID");
  if (takesId && id === undefined) {
    throw new UsageError(
      `${action} needs the id of a webhook: run ${commandName("webhooks list")}`,
    );
  }
  if (!takesId && id !== undefined) {
    throw new UsageError(`Unexpected argument ${JSON.stringify(id)}`);
  }
}

async function list({ json = false }: Flags): Promise<void> {
  const { webhookKeys: keys } = readWebhookConfig();
  const webhooks = await withInstance(readWebhooks);
  const text = json
    ? JSON.stringify(webhooks.map((it) => membersOf(it, keys)))
    : table(webhooks, keys);
  await print(escapeInvisible(text));
}

function readerOf({ heads, runtime, store }: Instance): WebhookReader {
  const storeDamage = () => store.damage;
  return new CollectionReader(READ_WEBHOOKS, { heads, runtime, store, storeDamage });
}

async function readWebhooks(instance: Instance): Promise<ListedWebhook[]> {
  const { heads, store } = instance;
  const consumers = await readConsumersOf(APPLICATION, store);
  const { head } = await heads.fresh();
  const { byId } = await readerOf(instance).asOf(head);
  return [...byId.values()].map((webhook) => {
    const name = consumerOfWebhook(webhook.id);
    return { webhook, consumer: consumers.find((it) => it.name === name) };
  });
}

/** Rejects with `CommandRefusedError` for an unknown id. */
async function readWebhook(instance: Instance, id: string): Promise<ListedWebhook> {
  const found = (await readWebhooks(instance)).find(({ webhook }) => webhook.id === id);
  if (found !== undefined) return found;
  throw new CommandRefusedError(
    `No webhook has the id ${id}; see ${commandName("webhooks list")}`,
  );
}

/** All members of a webhook but its secrets. */
function membersOf({ webhook, consumer }: ListedWebhook, keys: WebhookKeys | undefined) {
  const { id, url, types, description, createdAt } = webhook;
  const { position, lag, failing } = consumer ?? {};
  const state = stateOf({ webhook, consumer }, keys);
  return { id, url, types, description, createdAt, state, position, lag, failing };
}

/** Without keys, this command cannot know whether the service has that of the secret. */
function stateOf({ webhook, consumer }: ListedWebhook, keys: WebhookKeys | undefined): string {
  const hasKey = keys === undefined || keys.textOf(webhook.secrets[0]) !== undefined;
  const { disabledReason } = webhook;
  const state = deliveryStateOf(webhook, consumer, hasKey);
  return disabledReason === undefined ? state : `${state} (${disabledReason})`;
}

function table(webhooks: readonly ListedWebhook[], keys: WebhookKeys | undefined): string {
  const rows = webhooks.map(({ webhook, consumer }) => [
    webhook.id,
    stateOf({ webhook, consumer }, keys),
    consumer?.position === undefined ? "-" : formatCount(consumer.position),
    consumer === undefined ? "-" : formatCount(consumer.lag),
    shorten(webhook.url, TEXT_WIDTH),
    shorten(consumer?.failing?.reason ?? "", TEXT_WIDTH),
  ]);
  return aligned([["ID", "STATE", "PLACE", "BEHIND", "URL", "FAILURE"], ...rows]);
}

function aligned(rows: readonly string[][]): string {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows.map((row) => {
    return row.map((cell, column) => cell.padEnd(widths[column])).join("  ").trimEnd();
  }).join("\n");
}

async function showAttempts(id: string, { json = false }: Flags): Promise<void> {
  const attempts = await withInstance(async (instance) => {
    await readWebhook(instance, id);
    return await new AttemptLog(instance).read(id);
  });
  if (json) return await print(escapeInvisible(JSON.stringify(attempts)));
  const rows = attempts.map((attempt) => [
    formatSecond(Date.parse(attempt.time)),
    attempt.eventId,
    outcomeOf(attempt),
    `${formatCount(attempt.durationMs)} ms`,
    shorten(attempt.answer?.replaceAll(/\s+/g, " ") ?? "", TEXT_WIDTH),
  ]);
  await print(escapeInvisible(aligned([["TIME", "EVENT", "OUTCOME", "TOOK", "ANSWER"], ...rows])));
}

function outcomeOf({ status, error }: NotedAttempt): string {
  return error === undefined ? String(status) : ATTEMPT_ERRORS[error];
}

async function place(id: string, { after }: Flags): Promise<void> {
  const position = parseCount("--after", after, 0);
  if (position === undefined) {
    throw new UsageError("--after is required: the position of the last event not to send");
  }
  const { webhook } = await withInstance(async (instance) => {
    const found = await readWebhook(instance, id);
    await placeConsumer(instance, consumerOfWebhook(id), position);
    return found;
  });
  say(`The endpoint of webhook ${id} gets the events after position ${formatCount(position)}.`);
  if (webhook.disabledReason === undefined) return;
  say("The webhook is disabled: it gets them when its owner resumes it.");
}

/** Calls an endpoint once, as the service would. */
async function send(id: string, { event }: Flags): Promise<number> {
  const position = parseCount("--event", event, 1);
  const { webhookKeys: keys, webhookAllow } = readWebhookConfig();
  if (keys === undefined) throw new ConfigError("WEBHOOK_KEY must be that of the service");
  const attempt = await withInstance(async (instance) => {
    const { webhook } = await readWebhook(instance, id);
    const message = position === undefined
      ? testMessage(webhook, instance.runtime)
      : await readMessage(instance, position);
    const attempts = new AttemptLog(instance);
    const callable = new CallableAddresses(webhookAllow);
    const { heads, runtime, store } = instance;
    const delivery = new Delivery({
      append: instance.append.bind(instance),
      attempts,
      background: new BackgroundWork(runtime),
      heads,
      instrumentation: NO_INSTRUMENTATION,
      keys,
      report() {},
      runtime,
      sender: new WebhookSender({ runtime, callable }),
      store,
      webhooks: readerOf(instance),
    });
    if (!delivery.hasKeyOf(webhook)) {
      throw new CommandRefusedError(`WEBHOOK_KEY has not made the secret of webhook ${id}`);
    }
    const made = await delivery.sendNow(webhook, message);
    return { eventId: message.id, ...made };
  });
  const { eventId, durationMs } = attempt;
  say(`Sent ${eventId}: ${outcomeOf(attempt)}, in ${formatCount(durationMs)} ms`);
  return isConfirmed(attempt) ? EXIT.done : EXIT.refused;
}

/** Rejects with `CommandRefusedError` unless the feed shows an event at the position. */
async function readMessage({ heads, store }: Instance, position: number): Promise<Message> {
  const { head } = await heads.fresh();
  const recorded = position > head.position
    ? undefined
    : await readProof(APPLICATION, store, position);
  if (recorded !== undefined && isDelivered(recorded.event)) return messageOf(recorded);
  throw new CommandRefusedError(`Position ${position} of the log has no event that is delivered`);
}
