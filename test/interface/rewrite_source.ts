/** Rewrites what a story expects in the source of its section. */

/** Lines of a story, and those that replace them, without `<`. */
export interface Change {
  lines: [from: number, to: number];
  texts: string[];
}

/** A part of a template literal: its text, or a value that is made elsewhere. */
interface Part {
  kind: "text" | "value";
  from: number;
  to: number;
}

/** An offset of the story, and of the source. */
interface Place {
  told: [from: number, to: number];
  source: [from: number, to: number];
  kind: Part["kind"];
}

/** The story does not stand in the source as it is told. */
export class UnwrittenError extends Error {}

/** Whether the clause stands in the source, and is not made by a function. */
export function hasClause(source: string, clause: string): boolean {
  return clauseEnds(source, clause).length === 1;
}

/** Throws {@linkcode UnwrittenError} if a line is made by a function. */
export function rewriteSource(
  source: string,
  { clause, told }: { clause: string; told: string },
  changes: readonly Change[],
): string {
  const literal = literalOf(source, clause);
  if (literal === undefined) {
    throw new UnwrittenError("Rewrite it by hand: it is made by a function");
  }
  const { isRaw } = literal;
  const places = placesOf(source, partsOf(source, literal.begin), told, isRaw);
  const lines = told.split("\n");
  let result = source;
  for (const { lines: [from, to], texts } of changes.toReversed()) {
    const old = lines.slice(from, to).map((line) => line.trim().slice("< ".length));
    const before = commonLength(old, texts);
    const after = commonLength(old.slice(before).reverse(), texts.slice(before).reverse());
    const first = from + before;
    const last = to - after;
    const indent = /^ */.exec(lines[from])![0];
    const added = texts.slice(before, texts.length - after)
      .map((text) => `${indent}< ${isRaw ? unescaped(text) : escaped(text)}\n`).join("");
    const begin = sourceOffset(places, offsetOf(lines, first));
    const finish = sourceOffset(places, offsetOf(lines, last));
    result = result.slice(0, begin) + added + result.slice(finish);
  }
  return result;
}

/** Where the template literal of a clause begins, if it has one. */
function literalOf(source: string, clause: string) {
  const [end, ...others] = clauseEnds(source, clause);
  if (end === undefined || others.length > 0) return undefined;
  const [story] = source.slice(end).split(/\bclause:/);
  const match = /\btold:\s*(String\.raw)?`/.exec(story);
  if (match === null) return undefined;
  return { begin: end + match.index + match[0].length, isRaw: match[1] !== undefined };
}

/** Where the clause ends, in each place where it stands. */
function clauseEnds(source: string, clause: string): number[] {
  return [...source.matchAll(/clause:\s*(["'])((?:\\.|(?!\1)[^\\])*)\1/g)]
    .filter(([, , text]) => text.replaceAll(/\\(.)/g, "$1") === clause)
    .map(({ index, 0: text }) => index + text.length);
}

function commonLength(a: readonly string[], b: readonly string[]): number {
  const differs = a.findIndex((text, index) => text !== b[index]);
  return differs < 0 ? a.length : differs;
}

function offsetOf(lines: readonly string[], number: number): number {
  return lines.slice(0, number).reduce((sum, line) => sum + line.length + 1, 0);
}

/** The parts of a template literal that begins at an offset. */
function partsOf(source: string, begin: number): Part[] {
  const parts: Part[] = [];
  let from = begin;
  for (let at = begin;; at++) {
    if (source[at] === "\\") {
      at += 1;
    } else if (source[at] === "`") {
      return [...parts, { kind: "text", from, to: at }];
    } else if (source.startsWith("${", at)) {
      const to = endOfValue(source, at + 2);
      parts.push({ kind: "text", from, to: at }, { kind: "value", from: at, to });
      from = to;
      at = to - 1;
    }
  }
}

/** The offset after the brace that ends a value. */
function endOfValue(source: string, begin: number): number {
  let depth = 1;
  for (let at = begin;; at++) {
    const char = source[at];
    if (char === "{") depth += 1;
    if (char === "}") depth -= 1;
    if (depth === 0) return at + 1;
    if (char === "`") at = partsOf(source, at + 1).at(-1)!.to;
    if (char === '"' || char === "'") at = endOfText(source, at);
  }
}

/** The offset of the quote that ends a text. */
function endOfText(source: string, begin: number): number {
  for (let at = begin + 1;; at++) {
    if (source[at] === "\\") at += 1;
    else if (source[at] === source[begin]) return at;
  }
}

/** Where each character of a story, and each value in it, stands in the source. */
function placesOf(source: string, parts: readonly Part[], told: string, isRaw: boolean): Place[] {
  const pattern = parts.map((part) => {
    if (part.kind === "value") return "([^]*?)";
    const text = source.slice(part.from, part.to);
    return `(${RegExp.escape(isRaw ? text : text.replaceAll(/\\(.)/g, "$1"))})`;
  });
  const match = new RegExp(`^${pattern.join("")}$`, "d").exec(told);
  if (match === null) {
    throw new UnwrittenError("Rewrite it by hand: it is told otherwise than it is written");
  }
  return parts.flatMap((part, index): Place[] => {
    const [from, to] = match.indices![index + 1]!;
    const { kind } = part;
    if (kind === "value") return [{ kind, told: [from, to], source: [part.from, part.to] }];
    const chars = source.slice(part.from, part.to).matchAll(isRaw ? /[^]/g : /\\?[^]/g);
    return [...chars].map(({ index, 0: char }, offset) => ({
      kind,
      told: [from + offset, from + offset + 1],
      source: [part.from + index, part.from + index + char.length],
    }));
  });
}

function sourceOffset(places: readonly Place[], offset: number): number {
  const place = places.find(({ told: [from, to] }) => from <= offset && offset < to);
  if (place === undefined) return places.at(-1)!.source[1];
  const isWithin = place.kind === "value" && place.told[0] < offset;
  if (isWithin) throw new UnwrittenError("Rewrite it by hand: a line is made by a function");
  return place.source[0];
}

/** The text in a template literal. */
function escaped(text: string): string {
  return text.replaceAll(/[\\`]|\$(?=\{)/g, "\\$&");
}

/** The text in one without escapes. */
function unescaped(text: string): string {
  if (/`|\$\{/.test(text)) {
    throw new UnwrittenError(`Rewrite it by hand: a text without escapes cannot have ${text}`);
  }
  return text;
}
