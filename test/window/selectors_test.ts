/** The parts of the page know each other's elements by refs, homes and layers, and never by a selector. */

import { rule, type Source } from "../support/source_rule.ts";

const WINDOW = "src/window";
const CALLS =
  /(?<from>[\w.?!]*)\.(?:querySelector(?:All)?|closest|matches)(?:<\w+>)?\((?<argument>"[^"]*"|`[^`]*`|\w+)/g;
/** Which state an element is in is asked of all alike. */
const STATE = /^":[a-z-]+"$/;
const BY_NAME = /\.getElement(?:s)?By\w+\(/g;

/** The elements that a source looks for: from where, and the classes, ids and data in the selector. */
function searchesIn({ text }: Source): { from: string; names: string[] }[] {
  const calls = Array.from(text.matchAll(CALLS), ({ groups }) => groups!);
  return calls.filter(({ argument }) => !STATE.test(argument)).map(({ from, argument }) => {
    const isConstant = /^\w+$/.test(argument);
    const constant = isConstant && new RegExp(`const ${argument} = (".*")`).exec(text)?.[1];
    const selector = constant || argument;
    return { from, names: selector.match(/[.#][a-z][\w-]*|data-[\w-]+/g) ?? [] };
  });
}

/** Whether a source gives an element the class, the id or the data. */
function gives({ text }: Source, name: string): boolean {
  if (name.startsWith("data-")) return text.includes(` ${name}=`);
  const attribute = name.startsWith("#") ? "id" : "class";
  const values = text.match(new RegExp(` ${attribute}=(?:"[^"]*"|\\{[^}]*\\})`, "g")) ?? [];
  return values.some((it) => new RegExp(`(?<![\\w-])${name.slice(1)}(?![\\w-])`).test(it));
}

rule("No part of the page looks for the elements of another one", {
  moreThan: 15,
  pattern: `${WINDOW}/**/*.{ts,tsx}`,
  planted: [
    { file: `${WINDOW}/a.ts`, text: 'document.querySelector("dialog[open]")' },
    { file: `${WINDOW}/a.ts`, text: 'document.getElementById("rows")' },
    { file: `${WINDOW}/a.ts`, text: 'own.current?.querySelector<HTMLElement>(".toasts")' },
    { file: `${WINDOW}/a.ts`, text: 'const ROW = "[data-id]";\ntarget.closest(ROW)' },
  ],
}, (sources) => {
  const found = sources.flatMap((source) =>
    searchesIn(source).map(({ from, names }) => ({
      line: `${source.file} looks in ${from} for ${names.join(" ") || "elements"}`,
      isOwn: from !== "document" && names.every((name) => gives(source, name)),
    }))
  );
  const byName = sources.filter(({ text }) => text.search(BY_NAME) >= 0);
  const wrong = found.filter(({ isOwn }) => !isOwn).map(({ line }) => line);
  return {
    looked: found.length,
    wrong: [...wrong, ...byName.map(({ file }) => `${file} looks for an element by its name`)],
  };
});
