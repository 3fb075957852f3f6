/** Corrects what a story expects by what came, and keeps all that is still so. */

import {
  isMembers,
  type Known,
  matchText,
  matchValue,
  parseDigits,
  parseTemplate,
  type Template,
} from "./match.ts";
import { type Expected, NONE } from "./story.ts";
import { type Answer, isJson } from "./tell.ts";

/** Shorter texts may be the same by chance. */
const SHORTEST_NAMED = 4;

export function corrected(expected: Expected, answer: Answer, known: Known): Expected {
  let found = known;
  const headers = expected.headers.map(([name, value]): [string, string] => {
    const came = answer.headers.get(name);
    if (came === null) return [name, NONE];
    const learned = matchText(value, came, found);
    if (learned === undefined) return [name, named(came, found)];
    found = learned;
    return [name, value];
  });
  const body = correctedBody(expected.body, answer, found);
  return { ...expected, status: answer.status, headers, body };
}

function correctedBody(
  expected: string | undefined,
  answer: Answer,
  known: Known,
): string | undefined {
  if (expected === undefined) return undefined;
  if (answer.body === "") return NONE;
  const value = isJson(answer) ? parseDigits(answer.body) : undefined;
  if (value === undefined) return named(answer.body, known);
  if (expected === NONE) return print(value, known);
  return new Corrector(expected, known).text(parseTemplate(expected), value);
}

/** The text with names for what is known. */
function named(text: string, known: Known): string {
  const values = [...known].filter(([, value]) => value.length >= SHORTEST_NAMED)
    .sort(([, a], [, b]) => b.length - a.length);
  return values.reduce((result, [name, value]) => result.replaceAll(value, `{${name}}`), text);
}

function print(value: unknown, known: Known): string {
  return named(JSON.stringify(value), known);
}

/** Corrects a template of JSON. What is still so is kept as it is written. */
class Corrector {
  readonly #source: string;
  #known: Known;

  constructor(source: string, known: Known) {
    this.#source = source;
    this.#known = known;
  }

  text(template: Template, value: unknown): string {
    const found = matchValue(template, value, this.#known);
    if (found !== undefined) {
      this.#known = found;
      return this.#source.slice(template.from, template.to);
    }
    if (template.kind === "members" && isMembers(value)) return this.#members(template, value);
    if (template.kind === "items" && Array.isArray(value)) return this.#items(template, value);
    if (template.kind === "atMost" && Array.isArray(value)) return this.#atMost(template, value);
    return print(value, this.#known);
  }

  #members(template: Template & { kind: "members" }, value: Record<string, unknown>): string {
    const { members, isOpen } = template;
    const kept = [...members].filter(([name]) => Object.hasOwn(value, name));
    const others = Object.keys(value).filter((name) => !members.has(name) && !isOpen);
    const texts = kept.map(([name, member]) => this.text(member, value[name]));
    if (kept.length === members.size && others.length === 0) {
      return this.#withParts(template, kept.map(([, member]) => member), texts);
    }
    const all = kept.map(([name], index) => `${JSON.stringify(name)}:${texts[index]}`);
    const added = others.map((name) =>
      `${JSON.stringify(name)}:${print(value[name], this.#known)}`
    );
    const open = isOpen ? ["…"] : [];
    return `{${[...all, ...added, ...open].join(",")}}`;
  }

  #items(template: Template & { kind: "items" }, value: unknown[]): string {
    const { items, hasEarlier, hasLater } = template;
    const isSome = hasEarlier || hasLater;
    const at = hasLater ? 0 : Math.max(0, hasEarlier ? value.length - items.length : 0);
    const kept = items.filter((_, index) => at + index < value.length);
    const texts = kept.map((item, index) => this.text(item, value[at + index]));
    const others = isSome ? [] : value.slice(items.length);
    if (kept.length === items.length && others.length === 0) {
      return this.#withParts(template, kept, texts);
    }
    const added = others.map((item) => print(item, this.#known));
    const all = [...texts, ...added];
    if (hasEarlier) all.unshift("…");
    if (hasLater) all.push("…");
    return `[${all.join(",")}]`;
  }

  #atMost({ count, item }: Template & { kind: "atMost" }, value: unknown[]): string {
    const other = value.find((it) => matchValue(item, it, this.#known) === undefined);
    const text = other === undefined
      ? this.#source.slice(item.from, item.to)
      : this.text(item, other);
    return `[≤${Math.max(count, value.length)} ${text}]`;
  }

  /** The text of a template with other texts for some of its parts. */
  #withParts(template: Template, parts: readonly Template[], texts: readonly string[]): string {
    let result = "";
    let at = template.from;
    for (const [index, part] of parts.entries()) {
      result += this.#source.slice(at, part.from) + texts[index];
      at = part.to;
    }
    return result + this.#source.slice(at, template.to);
  }
}
