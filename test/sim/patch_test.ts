import { assertEquals, assertThrows } from "@std/assert";
import { patched } from "./patch.ts";

const SOURCE = `
const LIMIT_MS = 1_000;

export class Reader {
  async read(
    id: number,
  ): Promise<string> {
    return await this.#next(id, LIMIT_MS);
  }

  #next(id: number, limitMs: number) {
    const rest = [id].map((it) => {
      return it + 1;
    });
    next(rest);

    return wait(
      rest, // {
      limitMs,
    );
  }
}

function next([id]: number[]) {
  return id;
}
`;

const patch = (declaration: string, text: string, instead: string) =>
  patched(
    { name: "it fails", file: "reader.ts", edits: { [declaration]: [text, instead] } },
    SOURCE,
  );

Deno.test("patched() changes a text of a declaration in any layout, and nothing else", () => {
  assertEquals(patch("LIMIT_MS", "1_000", "0"), SOURCE.replace("1_000", "0"));
  assertEquals(
    patch("#next", "[id].map((it) => { return it + 1; })", "[]"),
    SOURCE.replace(/\[id\]\.map[^]*?\}\)/, "[]"),
  );
  assertEquals(patch("#next", "limitMs, )", "0)"), SOURCE.replace(/limitMs,\s+\);/, "0);"));
  assertEquals(patch("read", "this.#next", "$&"), SOURCE.replace("this.#next", () => "$&"));
  assertEquals(patch("next", "return id;", ""), SOURCE.replace("return id;", ""));
});

Deno.test("patched() names the mutant and the declaration that is missing", () => {
  const message = 'Mutant "it fails": reader.ts has 0 places, not 1, with a declaration of write';
  assertThrows(() => patch("write", "id", ""), Error, message);
});

Deno.test("patched() shows the body in which a text is missing, or several times", () => {
  const missing = 'Mutant "it fails": reader.ts has 0 places, not 1, with "1_000" in read:\n' +
    "  async read(\n    id: number,";
  assertThrows(() => patch("read", "1_000", ""), Error, missing);
  assertThrows(() => patch("#next", "id", ""), Error, 'has 2 places, not 1, with "id"');
});
