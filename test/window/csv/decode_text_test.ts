import { assert, assertEquals } from "@std/assert";
import { decodeText, ENCODINGS } from "../../../src/window/csv/decode_text.ts";

/** Bytes of a text whose characters are bytes. */
const bytesOf = (text: string) => Uint8Array.from(text, (it) => it.charCodeAt(0));
const utf8 = (text: string) => new TextEncoder().encode(text);

Deno.test("decodeText() takes byte order marks and right UTF-8 for what they are", () => {
  const wide = new Uint8Array(Uint16Array.from("\ufeffZoë", (it) => it.charCodeAt(0)).buffer);
  const swapped = wide.map((_, index) => wide[index ^ 1]);
  const cases: [Uint8Array, string, string][] = [
    [utf8("Zoë 小白 \ufffd"), "utf-8", "Zoë 小白 \ufffd"],
    [utf8("\ufeffZoë"), "utf-8", "Zoë"],
    [wide, "utf-16le", "Zoë"],
    [swapped, "utf-16be", "Zoë"],
    [new Uint8Array(), "utf-8", ""],
  ];
  for (const [bytes, encoding, text] of cases) {
    assertEquals(decodeText(bytes), {
      text,
      encoding,
      isAssumed: false,
      brokenLines: new Set<number>(),
    });
  }
});

Deno.test("decodeText() keeps UTF-8 with a wrong byte, and names its line", () => {
  const files = ["Žofie\nZoë\n小白\n", "\ufeffRex\nMia\nTom\n", "a\r\nŁatka\r\n\r\n"];
  for (const file of files) {
    for (const wrong of ["J\xfcrgen", "caf\xc3", "\xe5\xb0"]) {
      const bytes = new Uint8Array([...utf8(file), ...bytesOf(`${wrong}\nlast`)]);
      const { encoding, text, isAssumed, brokenLines } = decodeText(bytes);
      assertEquals([encoding, isAssumed, [...brokenLines]], ["utf-8", false, [4]]);
      assert(text.startsWith(file.replace("\ufeff", "")));
      assert(text.endsWith("\nlast"));
    }
  }
});

Deno.test("decodeText() assumes the encoding of Western Europe, and takes another one that is chosen", () => {
  const cases: [bytes: string, encoding: string, text: string, assumed: string][] = [
    ["Pu\xb9\xea\xb3ek;\xafaba", "windows-1250", "Puąęłek;Żaba", "Pu¹ê³ek;¯aba"],
    ["\xc6\xf3\xea", "windows-1251", "Жук", "Æóê"],
    ["\xc6\xfc\xea", "windows-1253", "Ζόκ", "Æüê"],
    ["Zo\xeb", "windows-1252", "Zoë", "Zoë"],
    ["\x8f\xac\x94\x92", "shift_jis", "小白", "\x8f¬”’"],
  ];
  for (const [content, encoding, text, assumed] of cases) {
    const first = decodeText(bytesOf(content));
    assertEquals([first.encoding, first.isAssumed, first.text], ["windows-1252", true, assumed]);
    const chosen = decodeText(bytesOf(content), encoding);
    assertEquals([chosen.isAssumed, chosen.brokenLines.size], [false, 0]);
    assertEquals(chosen.text, text);
  }
});

Deno.test("decodeText() names the lines that a chosen encoding does not have", () => {
  const { text, brokenLines } = decodeText(bytesOf("Rex\r\n\xff\xff\r\nMia"), "shift_jis");
  assertEquals([...brokenLines], [2]);
  assert(text.startsWith("Rex\r\n") && text.endsWith("\r\nMia"));
});

Deno.test("every encoding that a reader can choose is known to TextDecoder", () => {
  for (const encoding of Object.keys(ENCODINGS)) {
    assertEquals(new TextDecoder(encoding).encoding, encoding);
  }
});
