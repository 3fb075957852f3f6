/** The operations of webhooks, in the order of the description. */

import type { Operation } from "../api/operation.ts";
import { addWebhook, type AddWebhookDeps } from "./add_webhook.ts";
import { getWebhook } from "./get_webhook.ts";
import { listWebhooks, type ListWebhooksDeps } from "./list_webhooks.ts";
import { removeWebhook } from "./remove_webhook.ts";
import { rotateWebhookSecret } from "./rotate_webhook_secret.ts";
import { updateWebhook } from "./update_webhook.ts";

export type WebhookDeps = AddWebhookDeps & ListWebhooksDeps;

export const WEBHOOK_OPERATIONS: readonly Operation<WebhookDeps>[] = [
  listWebhooks,
  addWebhook,
  getWebhook,
  updateWebhook,
  removeWebhook,
  rotateWebhookSecret,
];
