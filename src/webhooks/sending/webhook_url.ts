import type { CallableAddresses } from "./callable_addresses.ts";

const LOOPBACK = ["127.0.0.1", "::1"];

/**
 * The rule that the URL of an endpoint breaks; `undefined` if it breaks none. The addresses of a host that is a name are
 * checked when the sender connects, because they can change.
 */
export function faultOfWebhookUrl(text: string, callable: CallableAddresses): string | undefined {
  if (/[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) return "must be an absolute URL";
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return "must begin with https://";
  if (url.username !== "" || url.password !== "") return "must have no user and no password";
  if (text.includes("#")) return "must have no fragment";
  const addresses = addressesInUrl(url);
  const isRefused = addresses !== undefined && !addresses.some((it) => callable.has(it));
  if (isRefused) return "must not lead to a private or special address";
  const isHttpAllowed = addresses?.some((it) => callable.isAllowed(it)) ?? false;
  if (url.protocol === "http:" && !isHttpAllowed) return "must begin with https://";
  return undefined;
}

/**
 * The addresses of a host that is an address, in any spelling, or `localhost`, which always means this machine (RFC 6761).
 * `undefined` if it is another name.
 */
export function addressesInUrl({ hostname }: URL): string[] | undefined {
  if (/^(?:.+\.)?localhost\.?$/.test(hostname)) return LOOPBACK;
  if (hostname.startsWith("[")) return [hostname.slice(1, -1)];
  // `URL` spells each IPv4 address with four numbers, and refuses other names that end in a number.
  return /\.\d+$/.test(hostname) ? [hostname] : undefined;
}
