/** Compares what a story expects with what came. */

/** What the names of a story stand for. */
export type Known = ReadonlyMap<string, string>;

/** What is known after a match, or `undefined` if something differs. */
type Found = Known | undefined;

const NAME = /\{([a-z]\w*)\}/;
const PARTS = /(\{[a-z]\w*\}|…)/;

/** The text with the names replaced. Throws if one is not known. */
export function fill(template: string, known: Known): string {
  return template.replaceAll(new RegExp(NAME, "g"), (_, name) => {
    const value = known.get(name);
    if (value === undefined) throw new Error(`The story does not say what {${name}} is`);
    return value;
  });
}

/** What is known if the text is like the template. */
export function matchText(template: string, actual: string, known: Known): Found {
  const seen = new Set<string>();
  const pattern = template.split(PARTS).map((part) => {
    if (part === "…") return "[^]*";
    const name = NAME.exec(part)?.[1];
    if (name === undefined) return RegExp.escape(part);
    const value = known.get(name);
    if (value !== undefined) return RegExp.escape(value);
    if (seen.has(name)) return `\\k<${name}>`;
    seen.add(name);
    return `(?<${name}>[^]+?)`;
  });
  const match = new RegExp(`^${pattern.join("")}$`).exec(actual);
  if (match === null) return undefined;
  let found: Found = known;
  for (const [name, value] of Object.entries(match.groups ?? {})) {
    if (found !== undefined) found = learn(name, value, found);
  }
  return found;
}

/** Two names are two values: so a story says that an id is another one. */
function learn(name: string, value: string, known: Known): Found {
  const before = known.get(name);
  if (before !== undefined) return before === value ? known : undefined;
  const isOfAnother = [...known.values()].includes(value);
  return isOfAnother ? undefined : new Map([...known, [name, value]]);
}

// TypeScript does not declare this yet (https://github.com/tc39/proposal-json-parse-with-source).
type Reviver = (key: string, value: unknown, context: { source: string }) => unknown;
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/** A number of JSON by its digits. */
class Digits {
  constructor(readonly text: string) {}

  toJSON(): unknown {
    return rawJSON(this.text);
  }
}

const byDigits: Reviver = (_, value, { source }) =>
  typeof value === "number" ? new Digits(source) : value;

/** What is known if the JSON is like the template. */
export function matchJson(template: string, actual: string, known: Known): Found {
  const value = parseDigits(actual);
  return value === undefined ? undefined : matchValue(parseTemplate(template), value, known);
}

/** The value, whose numbers keep their digits, or `undefined` if the text is no JSON. */
export function parseDigits(text: string): unknown {
  try {
    return JSON.parse(text, byDigits as (key: string, value: unknown) => unknown);
  } catch {
    return undefined;
  }
}

/** A part of a template, and where it stands in the text. */
export type Template = { from: number; to: number } & TemplateKind;

type TemplateKind =
  | { kind: "any" }
  | { kind: "name"; name: string }
  | { kind: "text"; text: string }
  | { kind: "literal"; text: string }
  | { kind: "items"; items: Template[]; hasEarlier: boolean; hasLater: boolean }
  | { kind: "atMost"; count: number; item: Template }
  | { kind: "members"; members: Map<string, Template>; isOpen: boolean };

export function matchValue(template: Template, value: unknown, known: Known): Found {
  switch (template.kind) {
    case "any":
      return known;
    case "name":
      return learn(template.name, textOf(value), known);
    case "text":
      return typeof value === "string" ? matchText(template.text, value, known) : undefined;
    case "literal":
      return typeof value !== "string" && textOf(value) === template.text ? known : undefined;
    case "items":
      return Array.isArray(value) ? matchItems(template, value, known) : undefined;
    case "atMost": {
      if (!Array.isArray(value) || value.length > template.count) return undefined;
      const hasAll = value.every((it) => matchValue(template.item, it, known) !== undefined);
      return hasAll ? known : undefined;
    }
    case "members": {
      if (!isMembers(value)) return undefined;
      const { members, isOpen } = template;
      const names = Object.keys(value);
      const hasOthers = names.some((name) => !members.has(name));
      if (hasOthers && !isOpen) return undefined;
      if ([...members.keys()].some((name) => !Object.hasOwn(value, name))) return undefined;
      return matchAll([...members].map(([name, member]) => [member, value[name]]), known);
    }
  }
}

/** Of the places where the items may be, it takes the first one. */
function matchItems(
  { items, hasEarlier, hasLater }: Template & { kind: "items" },
  value: unknown[],
  known: Known,
): Found {
  const others = value.length - items.length;
  if (others < 0) return undefined;
  const first = hasLater ? 0 : others;
  const last = hasEarlier ? others : 0;
  for (let at = first; at <= last; at++) {
    const found = matchAll(items.map((item, index) => [item, value[at + index]]), known);
    if (found !== undefined) return found;
  }
  return undefined;
}

function matchAll(pairs: [Template, unknown][], known: Known): Found {
  let found: Found = known;
  for (const [template, value] of pairs) {
    if (found !== undefined) found = matchValue(template, value, found);
  }
  return found;
}

export function isMembers(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) &&
    !(value instanceof Digits);
}

/** A value as JSON, but a text as it is. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The tokens of a template: JSON's, and those that only a template has. */
const TOKEN = /\s*("(?:[^"\\]|\\.)*"|\{[a-z]\w*\}|≤\d+|[-\d.eE+]+|true|false|null|[…{}[\]:,])/gy;

/** Throws if the text is no template. */
export function parseTemplate(text: string): Template {
  const matches = [...text.matchAll(TOKEN)];
  let index = 0;
  const isNext = (token: string) => matches[index]?.[1] === token;
  const next = () => {
    const match = matches[index] ?? fail(text);
    index += 1;
    return match[1];
  };
  const expect = (token: string) => isNext(token) ? next() : fail(text);
  const endOfLast = () => matches[index - 1].index + matches[index - 1][0].length;

  function value(): Template {
    const token = next();
    const from = endOfLast() - token.length;
    const kind = kindOf(token);
    return { ...kind, from, to: endOfLast() };
  }

  function kindOf(token: string): TemplateKind {
    if (token === "…") return { kind: "any" };
    if (token === "[") return array();
    if (token === "{") return object();
    if (token.startsWith('"')) return { kind: "text", text: JSON.parse(token) };
    const name = NAME.exec(token)?.[1];
    return name === undefined ? { kind: "literal", text: token } : { kind: "name", name };
  }

  function array(): TemplateKind {
    const items: Template[] = [];
    if (matches[index]?.[1].startsWith("≤")) {
      const count = Number(next().slice(1));
      const item = value();
      expect("]");
      return { kind: "atMost", count, item };
    }
    while (!isNext("]")) {
      items.push(value());
      if (!isNext("]")) expect(",");
    }
    expect("]");
    const hasLater = items.at(-1)?.kind === "any";
    if (hasLater) items.pop();
    const hasEarlier = items[0]?.kind === "any";
    if (hasEarlier) items.shift();
    return { kind: "items", items, hasEarlier, hasLater };
  }

  function object(): TemplateKind {
    const members = new Map<string, Template>();
    let isOpen = false;
    while (!isNext("}")) {
      const token = next();
      if (token === "…") {
        isOpen = true;
      } else {
        expect(":");
        members.set(JSON.parse(token), value());
      }
      if (!isNext("}")) expect(",");
    }
    expect("}");
    return { kind: "members", members, isOpen };
  }

  const template = value();
  if (endOfLast() !== text.trimEnd().length) fail(text);
  return template;
}

function fail(text: string): never {
  throw new Error(`Not what a response can be like: ${text}`);
}
