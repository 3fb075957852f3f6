/** The style sheets of the page. Each folder has its own, which changes nothing in the others. */

import { dirname } from "node:path";
import { rule, type Source } from "../support/source_rule.ts";

const WINDOW = "src/window";

/** All folders use the elements and classes of these parts. */
const SHARED = `${WINDOW}/parts`;

/** The elements and classes that a sheet names. */
function namesIn(sheet: string): string[] {
  return selectorsIn(sheet).flatMap((text) =>
    text.replace(/\[[^\]]*\]|::?[\w-]+(?=[^\w-]|$)/g, " ").match(
      /\.[a-z][\w-]*|(?<![\w.#-])[a-z][\w-]*/g,
    ) ?? []
  );
}

/** The selectors of each rule, without those of conditions and key frames. */
function selectorsIn(sheet: string): string[] {
  const code = sheet.replace(/\/\*[^]*?\*\/|"[^"]*"/g, "");
  const heads = Array.from(code.matchAll(/([^{};]+)\{/g), ([, text]) => text.trim());
  return heads.filter((text) => !/^(?:@|from$|to$)/.test(text));
}

/** Whether a source draws elements with the name, or gives them the class. */
function draws({ file, text }: Source, name: string): boolean {
  if (!name.startsWith(".")) return text.includes(`<${name}`);
  const texts = text.match(file.endsWith(".html") ? /class="[^"]*"/g : /"[^"]*"|`[^`]*`/g) ?? [];
  return texts.some((it) => new RegExp(`(?<![\\w-])${name.slice(1)}(?![\\w-])`).test(it));
}

rule("A style sheet changes only what its own folder draws", {
  moreThan: 100,
  pattern: `${WINDOW}/**/*.{css,html,tsx}`,
  planted: [
    { file: `${WINDOW}/import/a.css`, text: "@media print { dialog .import-head { margin: 0; } }" },
    { file: `${WINDOW}/animal/a.css`, text: ".selection { color: red; }" },
    { file: `${WINDOW}/list/a.css`, text: "main:has(.results) .floating { margin: 0; }" },
  ],
}, (sources) => {
  const sheets = sources.filter(({ file }) => file.endsWith(".css") && dirname(file) !== SHARED);
  const drawing = sources.filter(({ file }) => !file.endsWith(".css"));
  const named = sheets.flatMap(({ file, text }) =>
    namesIn(text).map((name) => ({ file, name, folder: dirname(file) }))
  );
  const isForeign = ({ name, folder }: { name: string; folder: string }) => {
    const found = drawing.filter((it) => draws(it, name));
    return !found.some(({ file }) => dirname(file) === folder) &&
      (found.length > 0 || !name.startsWith("."));
  };
  const wrong = named.filter(isForeign).map(({ file, name }) => `${file} styles ${name}`);
  return { looked: named.length, wrong: [...new Set(wrong)] };
});

/** Parts of a select that only some browsers have. */
const PARTS_OF_SELECT = /::(?:picker|checkmark)/;

rule("A browser that draws selects its own way ignores no rule about anything else", {
  moreThan: 200,
  pattern: `${WINDOW}/**/*.css`,
  planted: [{
    file: `${WINDOW}/parts/a.css`,
    text: ".choices,\n::picker(select) {\n  margin: 0;\n}",
  }],
}, (sources) => {
  const lists = sources.flatMap(({ text }) => selectorsIn(text));
  const wrong = lists.filter((it) => it.includes(",") && PARTS_OF_SELECT.test(it));
  return { looked: lists.length, wrong };
});
