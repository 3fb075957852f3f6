import { WEBHOOK_SECRETS_LIMIT, type WebhookSecret } from "../../events/webhook.ts";

/** How long a secret signs after another one follows it, in milliseconds. */
export const SECRET_OVERLAP_MS = 24 * 60 * 60 * 1_000;

/**
 * The secrets after a rotation at that time: the new one, and the former ones that have not ended. The one that was the
 * latest before ends after the overlap. The ends are in the log, so they depend on no clock.
 */
export function rotatedSecrets(
  before: readonly WebhookSecret[],
  added: WebhookSecret,
  time: string,
): WebhookSecret[] {
  const [last, ...former] = before;
  const until = new Date(Date.parse(time) + SECRET_OVERLAP_MS).toISOString();
  const valid = former.filter((secret) => secret.until! > time);
  return [added, { ...last, until }, ...valid].slice(0, WEBHOOK_SECRETS_LIMIT);
}
