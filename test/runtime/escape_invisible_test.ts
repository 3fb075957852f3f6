import { assertEquals } from "@std/assert";
import { escapeInvisible } from "../../src/runtime/escape_invisible.ts";

Deno.test("escapeInvisible() escapes controls and format characters, and JSON keeps its meaning", () => {
  const characters = ["\u001b", "\u009b", "\u007f", "\u00ad", "\u200b", "\u202e", "\u2028"];
  characters.push("\u2066", "\u3164", "\ufeff", "\ue000", "\u{e0000}", "\u{e0041}", "\u{e0100}");
  for (const character of characters) {
    const json = JSON.stringify(`a${character}b`);
    const escaped = escapeInvisible(json);
    assertEquals(escaped.includes(character), false, json);
    assertEquals(JSON.parse(escaped), `a${character}b`);
  }
  assertEquals(escapeInvisible("\u{e0000}"), "\\udb40\\udc00");
  for (const text of ["one\ntwo", "Žofie 猫 🐈 é é ا"]) assertEquals(escapeInvisible(text), text);
});
