/** The operations of webhooks, in the order of the description. */

import type { Operation } from "../api/operation.ts";
import { addWebhook, type AddWebhookDeps } from "./add_webhook.ts";
import { getWebhook } from "./get_webhook.ts";
import { listWebhooks, type ListWebhooksDeps } from "./list_webhooks.ts";
import { removeWebhook } from "./remove_webhook.ts";
import { rotateWebhookSecret } from "./rotate_webhook_secret.ts";
import {
  listWebhookAttempts,
  type ListWebhookAttemptsDeps,
} from "./delivery/list_webhook_attempts.ts";
import { resumeWebhook, type ResumeWebhookDeps } from "./delivery/resume_webhook.ts";
import { sendWebhook, type SendWebhookDeps } from "./delivery/send_webhook.ts";
import { updateWebhook } from "./update_webhook.ts";

export type WebhookDeps =
  & AddWebhookDeps
  & ListWebhooksDeps
  & ListWebhookAttemptsDeps
  & ResumeWebhookDeps
  & SendWebhookDeps;

export const WEBHOOK_OPERATIONS: readonly Operation<WebhookDeps>[] = [
  listWebhooks,
  addWebhook,
  getWebhook,
  updateWebhook,
  removeWebhook,
  rotateWebhookSecret,
  resumeWebhook,
  listWebhookAttempts,
  sendWebhook,
];
