/** A name that a module of the page exports means one thing: no other module declares it. */

import { rule, type Source } from "../support/source_rule.ts";

const DECLARATION =
  /^(?<exported>export )?(?:async )?(?:const|let|function|type|interface|class) (?<name>\w+)/gm;

function declarationsIn({ file, text }: Source) {
  return Array.from(text.matchAll(DECLARATION), ({ groups }) => ({
    file,
    name: groups!.name,
    isExported: groups!.exported !== undefined,
  }));
}

rule("A name that the page exports is declared once", {
  moreThan: 250,
  pattern: "src/window/**/*.{ts,tsx}",
  planted: [
    { file: "src/window/a.ts", text: "export function addressOf() {}" },
    { file: "src/window/a.ts", text: "const addressOf = 1;" },
  ],
}, (sources) => {
  const declared = sources.flatMap(declarationsIn);
  const byName = Map.groupBy(declared, ({ name }) => name);
  const exported = declared.filter(({ isExported }) => isExported);
  const wrong = exported.filter(({ name }) => byName.get(name)!.length > 1);
  return { looked: exported.length, wrong: wrong.map(({ file, name }) => `${name} in ${file}`) };
});
