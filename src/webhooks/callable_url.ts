import { HttpError } from "../api/errors.ts";
import type { CallableAddresses } from "./sending/callable_addresses.ts";
import { faultOfWebhookUrl } from "./sending/webhook_url.ts";

export interface CallableDeps {
  callableAddresses: CallableAddresses;
}

/** Throws `invalid_body` if no webhook may have the URL. The message repeats no part of it. */
export function expectCallable(url: string, { callableAddresses }: CallableDeps): void {
  const fault = faultOfWebhookUrl(url, callableAddresses);
  if (fault !== undefined) throw new HttpError("invalid_body", `Field "url" ${fault}`);
}
