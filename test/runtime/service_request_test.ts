import { assertEquals } from "@std/assert";
import { decodeUnreserved } from "../../src/runtime/service_request.ts";

/** The text of a byte in a URL. */
const encoded = (byte: number) => `%${byte.toString(16).padStart(2, "0")}`;

Deno.test("decodeUnreserved() decodes exactly the unreserved characters, once, in any case", () => {
  for (let byte = 0; byte < 256; byte++) {
    const character = String.fromCharCode(byte);
    const isUnreserved = /[A-Za-z0-9._~-]/.test(character);
    for (const text of [encoded(byte), encoded(byte).toUpperCase()]) {
      assertEquals(decodeUnreserved(`/a${text}1`), `/a${isUnreserved ? character : text}1`);
    }
  }
  for (const text of ["/%2531", "/%", "/%3", "/%zz", "/%%", "/%u0031", "/v1/pets"]) {
    assertEquals(decodeUnreserved(text), text);
  }
  assertEquals(decodeUnreserved("/%%31/%2E%2e/%312"), "/%1/../12");
});
