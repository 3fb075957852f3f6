/** Tells stories to a service, and says what comes back otherwise. */

import { fill, type Known, matchJson, matchText } from "./match.ts";
import { type Exchange, type Expected, type Need, NONE, stepsOf, type Story } from "./story.ts";

/** A service that runs somewhere. */
export interface Listener {
  /** Its base address, which ends in `/v1`. */
  base: string;
  send: typeof fetch;
  /** A key that may write, and one that may only read. */
  key: string;
  readOnlyKey?: string;
  has: readonly Need[];
  /** Lets happen what a story says besides its requests. */
  happen?(words: string): Promise<void>;
}

/** What came back otherwise than the interface promises. */
export interface Breach {
  request: string;
  expected: string;
  /** The whole response. */
  came: string;
}

export interface Answer {
  status: number;
  headers: Headers;
  body: string;
}

/** Resolves to the first thing that is otherwise, or to nothing if the service keeps the promise. */
export async function tell(story: Story, listener: Listener): Promise<Breach | undefined> {
  let breach: Breach | undefined;
  await tellOn(story, listener, (exchange, answer, known) => {
    const found = heard(exchange.expected, answer, known);
    if (found === undefined) breach = breachOf(exchange, answer, known);
    return found;
  });
  return breach;
}

/** Says what is known after an answer, or nothing if the story ends with it. */
type Hear = (exchange: Exchange, answer: Answer, known: Known) => Known | undefined;

/** Tells a story until it ends. */
export async function tellOn(story: Story, listener: Listener, hear: Hear): Promise<void> {
  let known: Known | undefined = namesOf(listener);
  for (const step of stepsOf(story.told)) {
    if (step.kind === "happening") {
      await listener.happen!(fill(step.words, known));
      continue;
    }
    const answer = await answerTo(step, listener, known);
    known = hear(step, answer, known);
    if (known === undefined) return;
  }
}

/** The names that every story knows. Ids, words and values are different ones in each story. */
function namesOf({ base, key, readOnlyKey }: Listener): Known {
  const number = BigInt(`0x${crypto.randomUUID().replaceAll("-", "").slice(0, 14)}`);
  const word = crypto.randomUUID().slice(0, 8);
  return new Map([
    ["base", base],
    ["key", key],
    ["readOnlyKey", readOnlyKey ?? ""],
    ["category", String(number)],
    ["otherCategory", String(-number)],
    ["word", `w${word}`],
    ["once", `once-${word}`],
    // The service has none beyond, and JSON in JavaScript has it exactly.
    ["nobody", String(Number.MAX_SAFE_INTEGER)],
  ]);
}

async function answerTo(
  { sent }: Exchange,
  { base, send, key }: Listener,
  known: Known,
): Promise<Answer> {
  // With bytes, a request has no media type but that of the story.
  const body = sent.body === undefined
    ? undefined
    : new TextEncoder().encode(fill(sent.body, known));
  // By itself, fetch() asks for a compressed body.
  const headers = new Headers({ "accept-encoding": "identity", authorization: `Bearer ${key}` });
  if (body !== undefined) headers.set("content-type", "application/json");
  for (const [name, value] of sent.headers) {
    headers.delete(name);
    if (value !== NONE) headers.set(name, fill(value, known));
  }
  const address = `${base}${fill(sent.path, known)}`;
  const response = await send(address, { method: sent.method, headers, body, redirect: "manual" });
  return { status: response.status, headers: response.headers, body: await bodyOf(response) };
}

/** The text of a body, also of one that the client has not decompressed. */
async function bodyOf(response: Response): Promise<string> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  if (!isGzip) return new TextDecoder().decode(bytes);
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return await new Response(plain).text();
}

/** What is known after an answer, or nothing if it is not as expected. */
export function heard(expected: Expected, answer: Answer, known: Known): Known | undefined {
  if (answer.status !== expected.status) return undefined;
  let found: Known | undefined = known;
  for (const [name, value] of expected.headers) {
    const came = answer.headers.get(name);
    if (value === NONE && came === null) continue;
    if (came === null) return undefined;
    found = matchText(value, came, found);
    if (found === undefined) return undefined;
  }
  return heardBody(expected.body, answer, found);
}

function heardBody(expected: string | undefined, answer: Answer, known: Known): Known | undefined {
  if (expected === undefined) return known;
  if (expected === NONE) return answer.body === "" ? known : undefined;
  const match = isJson(answer) ? matchJson : matchText;
  return match(expected, answer.body, known);
}

export function isJson({ headers }: Answer): boolean {
  return /^application\/([a-z-]+\+)?json\b/.test(headers.get("content-type") ?? "");
}

function breachOf({ sent, expected }: Exchange, answer: Answer, known: Known): Breach {
  const { status, headers, body = "" } = expected;
  return {
    request: textOf(`${sent.method} ${fill(sent.path, known)}`, sent.headers, sent.body),
    expected: textOf(String(status), headers, body),
    came: textOf(String(answer.status), [...answer.headers], answer.body),
  };
}

function textOf(first: string, headers: readonly [string, string][], body = ""): string {
  return [first, ...headers.map(([name, value]) => `${name}: ${value}`), body].join("\n").trim();
}
