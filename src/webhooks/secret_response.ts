import { entityTag } from "../api/conditional_read.ts";
import type { HttpResponse } from "../api/http_response.ts";
import { writtenResponse } from "../api/written_response.ts";
import type { WebhookWithSecret } from "./write_webhook.ts";

/** The response with a new secret. Its `ETag` is that of the webhook without the secret, as reads show it. */
export function secretResponse(
  status: 200 | 201,
  { text, secret, isDuplicate }: WebhookWithSecret,
  more: HttpResponse["headers"] = {},
): HttpResponse {
  const withSecret = `${text.slice(0, -1)},"secret":${JSON.stringify(secret)}}`;
  const headers = { ...more, etag: entityTag(text) };
  return writtenResponse(status, { text: withSecret, isDuplicate }, headers);
}
