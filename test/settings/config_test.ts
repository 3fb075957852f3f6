import { assert, assertEquals, assertThrows } from "@std/assert";
import { ConfigError, readServiceConfig, type ServiceConfig } from "../../src/settings/config.ts";
import { storeName } from "../../src/store/store_location.ts";
import { permitted } from "../support/permitted.ts";

Deno.test({
  name: "readServiceConfig() reads the origins of CORS_ORIGINS, by default an empty list",
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
  name: "readServiceConfig() refuses an origin that a browser never sends, and names CORS_ORIGINS",
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

Deno.test({
  name: "readServiceConfig() reads the addresses for clients from PUBLIC_URL and STAGING_URL",
  ignore: !permitted("env"),
  fn() {
    const production = "https://animals.example/store/v1";
    const staging = "http://staging.animals.example:8080/v1";
    const { addresses } = readWith({ PUBLIC_URL: production, STAGING_URL: staging });
    assertEquals(addresses, { production, staging, contact: undefined });
    assertEquals(readWith({ PUBLIC_URL: "", STAGING_URL: "", CONTACT: "" }).addresses, {
      production: undefined,
      staging: undefined,
      contact: undefined,
    });
    const written = readWith({ PUBLIC_URL: "HTTPS://Animals.example:443/<é>/v1" }).addresses;
    assertEquals(written.production, "https://animals.example/%3C%C3%A9%3E/v1");
  },
});

Deno.test({
  name: "readServiceConfig() reads a mail address or an http(s) address from CONTACT",
  ignore: !permitted("env"),
  fn() {
    for (const contact of ["api@shop.example", "https://shop.example/help"]) {
      assertEquals(readWith({ CONTACT: contact }).addresses.contact, contact);
    }
    for (
      const text of ["shop", "mailto:api@shop.example", "ftp://shop.example", "a b@shop.example"]
    ) {
      assertThrows(() => readWith({ CONTACT: text }), ConfigError, "CONTACT must be");
    }
  },
});

Deno.test({
  name:
    "readServiceConfig() refuses a PUBLIC_URL that is not an http(s) address whose path ends in /v1",
  ignore: !permitted("env"),
  fn() {
    const faulty = [
      "animals.example/v1",
      "ftp://animals.example/v1",
      "https://animals.example/",
      "https://animals.example/v1/",
      "https://animals.example/v1?key=1",
      "https://animals.example/v1#top",
      "https://me@animals.example/v1",
      "https://animals.example/xv1",
    ];
    for (const text of faulty) {
      assertThrows(() => readWith({ PUBLIC_URL: text }), ConfigError, "PUBLIC_URL must be");
    }
  },
});

Deno.test({
  name: "readServiceConfig() refuses a HOST that is not one host",
  ignore: !permitted("env"),
  fn() {
    for (const HOST of ["..", "a,b", "*", "a%00b", "::1%00", "[::1]"]) {
      assertThrows(() => readWith({ HOST }), ConfigError, "HOST must be a host name");
    }
  },
});

Deno.test({
  name: "readServiceConfig() refuses a KV_PATH with credentials, and does not print them",
  ignore: !permitted("env"),
  fn() {
    const faulty: [string, string][] = [
      ["https://me:hunter2@kv.example", "KV_PATH must not contain credentials"],
      ["https://hunter2@kv.example", "KV_PATH must not contain credentials"],
      ["https://kv.example/?token=hunter2", "KV_PATH must not contain credentials"],
      ["postgres://me:hunter2@db.example/pets", "KV_PATH must be a file"],
      ["http://kv.example,hunter2", "KV_PATH must be a file"],
    ];
    for (const [path, words] of faulty) {
      const variables = { KV_PATH: path, DENO_KV_ACCESS_TOKEN: "x", DENO_DEPLOYMENT_ID: undefined };
      const { message } = assertThrows(() => readWith(variables), ConfigError, words);
      assertEquals(message.includes("hunter2"), false);
    }
  },
});

Deno.test({
  name: "readServiceConfig() refuses an http(s) address in KV_PATH that lacks a slash",
  ignore: !permitted("env"),
  fn() {
    for (const path of ["http:/localhost:1", "https:/kv.example", "HTTP:kv.example"]) {
      const variables = { KV_PATH: path, DENO_KV_ACCESS_TOKEN: "x", DENO_DEPLOYMENT_ID: undefined };
      assertThrows(
        () => readWith(variables),
        ConfigError,
        "KV_PATH must be a file, :memory: or an http(s) address",
      );
    }
    for (const path of ["HTTP://localhost:1", "https/pets.sqlite3"]) {
      const variables = { KV_PATH: path, DENO_KV_ACCESS_TOKEN: "x", DENO_DEPLOYMENT_ID: undefined };
      assertEquals(storeName(readWith(variables).store), path);
    }
  },
});

Deno.test({
  name: "readServiceConfig() reads DATABASE_URL, its password, and READS",
  ignore: !permitted("env"),
  fn() {
    const bare = {
      KV_PATH: undefined,
      PGPASSWORD: undefined,
      PGPASSFILE: undefined,
      READS: undefined,
    };
    const store = (variables: Record<string, string | undefined>) => {
      const { store } = readWith({ ...bare, ...variables });
      assert(store.kind === "postgres");
      return store.settings;
    };
    const plain = store({ DATABASE_URL: "postgres://me@db.example/pets" });
    assertEquals([plain.password, plain.passfile, plain.strictReads], [
      undefined,
      undefined,
      false,
    ]);
    const strict = store({
      DATABASE_URL: "postgres://me@db.example/pets",
      PGPASSWORD: "one",
      PGPASSFILE: "file",
      READS: "strict",
    });
    assertEquals([strict.password, strict.passfile, strict.strictReads], ["one", "file", true]);
    const own = store({ DATABASE_URL: "postgres://me:two@db.example/pets", PGPASSWORD: "one" });
    assertEquals(own.password, "two");
  },
});

Deno.test({
  name: "readServiceConfig() refuses a faulty DATABASE_URL or READS, and KV_PATH with DATABASE_URL",
  ignore: !permitted("env"),
  fn() {
    const url = "postgres://me:hunter2@db.example/pets";
    const faulty: [Record<string, string | undefined>, string][] = [
      [{ KV_PATH: "pets.sqlite3", DATABASE_URL: url }, "KV_PATH and DATABASE_URL must not both"],
      [
        { DATABASE_URL: "mysql://me:hunter2@db.example/pets" },
        "DATABASE_URL must be like postgres",
      ],
      [{ DATABASE_URL: `${url}?sslmode=allow` }, "DATABASE_URL must have an sslmode of"],
      [{ READS: "strict" }, "READS has no effect without DATABASE_URL"],
      [{ DATABASE_URL: url, READS: "fast" }, "READS must be primary or strict"],
    ];
    for (const [variables, words] of faulty) {
      const { message } = assertThrows(
        () => readWith({ KV_PATH: undefined, ...variables }),
        ConfigError,
        words,
      );
      assertEquals(message.includes("hunter2"), false);
    }
  },
});

Deno.test({
  name: "readServiceConfig() reads RATE_LIMIT, by default no limit",
  ignore: !permitted("env"),
  fn() {
    const limits: [string | undefined, number | undefined][] = [
      [undefined, undefined],
      ["", undefined],
      ["1", 1],
      ["100", 100],
      ["1000000", 1_000_000],
    ];
    for (const [text, limit] of limits) {
      assertEquals(readWith({ RATE_LIMIT: text }).rateLimit, limit);
    }
  },
});

Deno.test({
  name: "readServiceConfig() refuses a RATE_LIMIT that is not a whole number from 1 to 1000000",
  ignore: !permitted("env"),
  fn() {
    for (const text of ["0", "-1", "0.5", "1e3", "1000001", "9".repeat(400), "ten", " 5", "∞"]) {
      const { message } = assertThrows(
        () => readWith({ RATE_LIMIT: text }),
        ConfigError,
        "RATE_LIMIT must be a whole number of requests a second from 1 to 1000000, not ",
      );
      assertEquals(message.includes("\n"), false);
    }
  },
});

function originsOf(text: string | undefined): string[] {
  return readWith({ CORS_ORIGINS: text }).corsOrigins;
}

/** Reads the settings with those variables, and restores the environment. */
function readWith(variables: Record<string, string | undefined>): ServiceConfig {
  const before = Object.keys(variables).map((name) => [name, Deno.env.get(name)]);
  setEnv(variables);
  try {
    return readServiceConfig();
  } finally {
    setEnv(Object.fromEntries(before));
  }
}

function setEnv(variables: Record<string, string | undefined>): void {
  for (const [name, text] of Object.entries(variables)) {
    if (text === undefined) Deno.env.delete(name);
    else Deno.env.set(name, text);
  }
}
