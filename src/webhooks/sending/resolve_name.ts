import { Resolver } from "node:dns/promises";

/**
 * Resolves to the addresses of a name, in the order in which they are tried. Resolves to none, or rejects, if it has none, and
 * soon after the signal aborts.
 */
export type ResolveName = (name: string, signal: AbortSignal) => Promise<string[]>;

/** How long and how often each server is asked. */
const QUERY = { timeout: 2_000, tries: 2 };

/**
 * Asks the servers of the system; Deno also reads /etc/hosts. A call of the system would hold a thread, of which Node has
 * four for all that the service does, while a server of a hostile domain is silent.
 */
export const resolveByDns: ResolveName = (name, signal) =>
  resolveBy(new Resolver(QUERY), name, signal);

/** The signal cancels all that the resolver does. */
export async function resolveBy(
  resolver: Resolver,
  name: string,
  signal: AbortSignal,
): Promise<string[]> {
  const cancel = () => resolver.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  const queries = [resolver.resolve4(name), resolver.resolve6(name)];
  const answers = await Promise.allSettled(queries);
  signal.removeEventListener("abort", cancel);
  const [four, six] = answers.map((answer) => answer.status === "fulfilled" ? answer.value : []);
  // In turn, because only some are tried, and one family may lead nowhere.
  return Array.from({ length: Math.max(four.length, six.length) }, (_, index) => {
    return [four, six].flatMap((addresses) => addresses.slice(index, index + 1));
  }).flat();
}
