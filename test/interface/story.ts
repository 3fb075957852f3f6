/**
 * A story is a few requests and what comes back, as text:
 *
 *     > POST /pets
 *     > {"name":"Rex","categoryId":{category}}
 *     < 201
 *     < location: {base}/pets/{rex}
 *     < {"id":{rex},"name":"Rex","categoryId":{category}}
 *
 * Headers follow the first line, and then the body. Each request has the key that may write, and each body has
 * `content-type: application/json`, unless the story says otherwise. A header or a body that is `(none)` is not there.
 *
 * `{rex}` takes its value from the first response it stands in, and has that value afterwards; two names have two values. `…`
 * is anything; at the end of an object, and at the beginning and the end of an array, any number of further members or
 * items. An object without `…` has exactly these members, in any order. `[≤20 {"id":…,…}]` has at most 20 items, each like the
 * one after the number. If no body stands here, any may come. JSON is compared by its values, numbers by their digits, and
 * what is not JSON as text.
 *
 * What happens besides follows `~`, in the words of happenings.ts: `~ 25 hours pass`, `~ the disk is full`.
 *
 * Each story knows `{base}`, `{key}`, `{readOnlyKey}`, and values that no other story has: `{category}`, `{otherCategory}`,
 * `{word}` and `{once}` for an Idempotency-Key. So it can be told on a store with other animals, unless it needs an empty one.
 * No animal has the id `{nobody}`.
 */

/** What a story may need besides a key that may write. */
export const NEEDS = [
  "a read-only key",
  "an empty store",
  "a store that nobody else changes",
  // A proxy answers otherwise on purpose.
  "no proxy",
  "a clock",
  "faults",
  "an operator",
  // The service has a key for their secrets.
  "webhooks",
] as const;

export type Need = (typeof NEEDS)[number];

export interface Story {
  /** What the interface promises, as a sentence. */
  clause: string;
  /** By default none. */
  needs?: readonly Need[];
  /** The requests and responses. */
  told: string;
}

/** The stories of one section of the interface. */
export interface Section {
  /** Its number and title. */
  title: string;
  /** Those that hold for the contract with its three operations. */
  contract: readonly Story[];
  /** Those of what this service has beyond the contract. */
  beyond: readonly Story[];
}

/** The Error of section 2. */
export function refusal(status: number): string {
  return `{"code":"…","message":"…","status":${status},…}`;
}

/** The Error with what this service has beyond the contract: a stable code, and nothing but the three members. */
export function errorOf(status: number, code: string, message = "…"): string {
  return JSON.stringify({ code, message, status });
}

/** What is not there: a header or a body. */
export const NONE = "(none)";

export interface Sent {
  method: string;
  /** Below the base address. */
  path: string;
  headers: [name: string, value: string][];
  body?: string;
}

export interface Expected {
  status: number;
  headers: [name: string, value: string][];
  body?: string;
  /** Its lines in the story: the first one, and the one after the last. */
  lines: [from: number, to: number];
}

export interface Exchange {
  kind: "exchange";
  sent: Sent;
  expected: Expected;
}

export type Step = Exchange | { kind: "happening"; words: string };

const HEADER = /^([a-z][a-z-]*): ?(.*)$/;

/** Throws if the text is no story. */
export function stepsOf(told: string): Step[] {
  const steps: Step[] = [];
  for (const { mark, texts, lines } of blocksOf(told)) {
    const [first] = texts;
    switch (mark) {
      case "~":
        steps.push(...texts.map((words): Step => ({ kind: "happening", words })));
        break;
      case ">": {
        const [, method, path] = /^([A-Z]+) (\/\S*)$/.exec(first) ?? fail(first);
        const sent = { method, path, ...messageOf(texts) };
        const expected = { status: 0, headers: [], lines };
        steps.push({ kind: "exchange", sent, expected });
        break;
      }
      case "<": {
        const last = steps.at(-1);
        if (last?.kind !== "exchange") return fail(first);
        last.expected = { status: Number(first), ...messageOf(texts), lines };
      }
    }
  }
  return steps;
}

/** The headers and the body that follow the first line. */
function messageOf([, ...rest]: readonly string[]): Pick<Sent, "headers" | "body"> {
  const bodyAt = rest.findIndex((line) => !HEADER.test(line));
  const headerCount = bodyAt < 0 ? rest.length : bodyAt;
  const headers = rest.slice(0, headerCount).map((line): [string, string] => {
    const [, name, value] = HEADER.exec(line)!;
    return [name, value];
  });
  return { headers, body: bodyAt < 0 ? undefined : rest.slice(bodyAt).join("\n") };
}

interface Block {
  mark: string;
  texts: string[];
  lines: [from: number, to: number];
}

/** The lines of a request, then those of its response, and so on. */
function blocksOf(told: string): Block[] {
  const blocks: Block[] = [];
  for (const [number, line] of told.split("\n").entries()) {
    const trimmed = line.trim();
    if (trimmed === "") continue;
    const [, mark, text] = /^([<>~]) (.+)$/.exec(trimmed) ?? fail(trimmed);
    const last = blocks.at(-1);
    if (last?.mark === mark) {
      last.texts.push(text);
      last.lines[1] = number + 1;
    } else {
      blocks.push({ mark, texts: [text], lines: [number, number + 1] });
    }
  }
  return blocks;
}

function fail(line: string): never {
  throw new Error(`Not a line of a story: ${line}`);
}
