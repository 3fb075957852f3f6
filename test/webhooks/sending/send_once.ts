import type { Runtime } from "eventstore-less";
import { Resolver } from "node:dns/promises";
import { Networks } from "../../../src/runtime/networks.ts";
import type { Attempt } from "../../../src/webhooks/sending/attempt.ts";
import { CallableAddresses } from "../../../src/webhooks/sending/callable_addresses.ts";
import { resolveBy, type ResolveName } from "../../../src/webhooks/sending/resolve_name.ts";
import { WebhookSender } from "../../../src/webhooks/sending/webhook_sender.ts";

type Names = Record<string, readonly string[] | null>;

/** A request of a test, as JSON. */
export interface SendInput {
  url: string;
  headers?: Record<string, string>;
  body?: string;
  /** `WEBHOOK_ALLOW` */
  allow?: string;
  /** The addresses of names. A name with `null` is never resolved. */
  names?: Names;
  /** Those from the second question on, if they differ. */
  laterNames?: Names;
  /** The DNS server that is asked if there are no names, such as `127.0.0.1:53`; by default, those of the system. */
  dnsServer?: string;
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
  const { url, headers = {}, body = "{}", allow, authorities, haste = 1 } = input;
  const sender = new WebhookSender({
    runtime: hastyRuntime(haste),
    callable: new CallableAddresses(allow === undefined ? undefined : Networks.parse(allow)),
    authorities,
    resolveName: resolverOf(input),
  });
  return sender.send({ url, headers, body, signal });
}

function resolverOf(
  { names, laterNames = names, dnsServer }: SendInput,
): ResolveName | undefined {
  if (names !== undefined && laterNames !== undefined) {
    const questions = new Set<string>();
    return (name, signal) => {
      const known = questions.has(name) ? laterNames : names;
      questions.add(name);
      return resolve(known[name], signal);
    };
  }
  if (dnsServer === undefined) return undefined;
  const resolver = new Resolver();
  resolver.setServers([dnsServer]);
  return (name, signal) => resolveBy(resolver, name, signal);
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
