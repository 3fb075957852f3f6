import { assertEquals, assertThrows } from "@std/assert";
import { ConfigError, readConfig } from "../src/config.ts";
import { permitted } from "./permitted.ts";

Deno.test({
  name: "readConfig() reads the origins of CORS_ORIGINS, and none where it is not set",
  ignore: !permitted("env"),
  fn() {
    assertEquals(originsOf(undefined), []);
    assertEquals(originsOf(""), []);
    assertEquals(originsOf("https://shop.example"), ["https://shop.example"]);
    assertEquals(
      originsOf("https://shop.example, http://localhost:5173,https://[::1]:8443"),
      ["https://shop.example", "http://localhost:5173", "https://[::1]:8443"],
    );
  },
});

Deno.test({
  name: "readConfig() refuses what no browser sends as an origin, and names CORS_ORIGINS",
  ignore: !permitted("env"),
  fn() {
    const invalid = [
      "*",
      "null",
      "shop.example",
      "https://shop.example/",
      "https://shop.example/app",
      "https://Shop.example",
      "https://shop.example:443",
      "https://*.example",
      "https://user@shop.example",
      "ftp://shop.example",
      "https://",
      "https://a.example,",
      ",",
    ];
    for (const text of invalid) {
      const { message } = assertThrows(() => originsOf(text), ConfigError, "CORS_ORIGINS must be");
      assertEquals(message.includes("\n"), false);
    }
  },
});

function originsOf(text: string | undefined): string[] {
  const before = Deno.env.get("CORS_ORIGINS");
  setEnv(text);
  try {
    return readConfig().corsOrigins;
  } finally {
    setEnv(before);
  }
}

function setEnv(text: string | undefined): void {
  if (text === undefined) Deno.env.delete("CORS_ORIGINS");
  else Deno.env.set("CORS_ORIGINS", text);
}
