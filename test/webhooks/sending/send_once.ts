import type { Runtime } from "eventstore-less";
import { Networks } from "../../../src/runtime/networks.ts";
import type { Attempt } from "../../../src/webhooks/sending/attempt.ts";
import { CallableAddresses } from "../../../src/webhooks/sending/callable_addresses.ts";
import { WebhookSender } from "../../../src/webhooks/sending/webhook_sender.ts";

/** A request of a test, as JSON. */
export interface SendInput {
  url: string;
  headers?: Record<string, string>;
  body?: string;
  /** `WEBHOOK_ALLOW` */
  allow?: string;
  /** The addresses of names. A name with `null` is never resolved. Without names, DNS is asked. */
  names?: Record<string, readonly string[] | null>;
  /** Certificates that are trusted. */
  authorities?: string;
  /** How much faster time limits pass. */
  haste?: number;
}

/** Sends one request by a sender of its own. */
export function sendOnce(
  input: SendInput,
  signal = new AbortController().signal,
): Promise<Attempt> {
  const { url, headers = {}, body = "{}", allow, names, authorities, haste = 1 } = input;
  const sender = new WebhookSender({
    runtime: hastyRuntime(haste),
    callable: new CallableAddresses(allow === undefined ? undefined : Networks.parse(allow)),
    authorities,
    ...names === undefined ? {} : { resolveName: (name, signal) => resolve(names[name], signal) },
  });
  return sender.send({ url, headers, body, signal });
}

function resolve(addresses: readonly string[] | null, signal: AbortSignal): Promise<string[]> {
  if (addresses !== null) return Promise.resolve([...addresses]);
  return new Promise((_, reject) => signal.addEventListener("abort", reject));
}

function hastyRuntime(haste: number): Runtime {
  return {
    now: () => Date.now(),
    monotonicNow: () => performance.now(),
    setTimer: (ms: number, run: () => void) => {
      const timer = setTimeout(run, ms / haste);
      return () => clearTimeout(timer);
    },
  } as Runtime;
}
