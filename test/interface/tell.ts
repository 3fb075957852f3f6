/** Tells stories to a service, and says what comes back otherwise. */

import { fill, type Known, matchJson, matchText } from "./match.ts";
import {
  type Exchange,
  exchangesOf,
  type Expected,
  type Need,
  NONE,
  type Sent,
  type Story,
} from "./story.ts";
import { utf8 } from "../support/utf8.ts";

/** A service that runs somewhere. */
export interface Listener {
  /** Its base address, which ends in `/v1`. */
  base: string;
  send: typeof fetch;
  /** A key that may write, and one that may only read. */
  key: string;
  readOnlyKey?: string;
  has: readonly Need[];
}

/** What came back otherwise than the interface promises. */
export interface Breach {
  request: string;
  expected: string;
  /** The whole response. */
  came: string;
}

interface Answer {
  status: number;
  headers: Headers;
  body: string;
}

/** Resolves to the first thing that is otherwise, or to nothing if the service keeps the promise. */
export async function tell(story: Story, listener: Listener): Promise<Breach | undefined> {
  let known = namesOf(listener);
  for (const exchange of exchangesOf(story.told)) {
    const answer = await answerTo(exchange, listener, known);
    const found = heard(exchange.expected, answer, known);
    if (found === undefined) return breachOf(exchange, answer, known);
    known = found;
  }
  return undefined;
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
  ]);
}

async function answerTo({ sent, expected }: Exchange, listener: Listener, known: Known) {
  for (;;) {
    const answer = await answerOnce(sent, listener, known);
    if (answer.status !== 429 || expected.status === 429) return answer;
    const seconds = Number(answer.headers.get("retry-after") ?? 1);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  }
}

async function answerOnce(
  sent: Sent,
  { base, send, key }: Listener,
  known: Known,
): Promise<Answer> {
  // With bytes, a request has no media type but that of the story.
  const body = sent.body === undefined ? undefined : utf8(fill(sent.body, known));
  const headers = new Headers({ authorization: `Bearer ${key}` });
  if (body !== undefined) headers.set("content-type", "application/json");
  for (const [name, value] of sent.headers) {
    headers.delete(name);
    if (value !== NONE) headers.set(name, fill(value, known));
  }
  const address = `${base}${fill(sent.path, known)}`;
  const response = await send(address, { method: sent.method, headers, body, redirect: "manual" });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

function heard(expected: Expected, answer: Answer, known: Known): Known | undefined {
  if (answer.status !== expected.status) return undefined;
  let found: Known | undefined = known;
  for (const [name, value] of expected.headers) {
    const came = answer.headers.get(name);
    if (value === NONE && came === null) continue;
    if (came === null) return undefined;
    found = matchText(value, came, found);
    if (found === undefined) return undefined;
  }
  if (expected.body === undefined) return found;
  if (expected.body === NONE) return answer.body === "" ? found : undefined;
  return matchJson(expected.body, answer.body, found);
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
