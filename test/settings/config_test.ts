import process from "node:process";
import { assertEquals, assertThrows } from "@std/assert";
import { stub } from "@std/testing/mock";
import {
  ConfigError,
  readDevConfig,
  readServiceConfig,
  type ServiceConfig,
} from "../../src/settings/config.ts";
import { storeName } from "../../src/eventstore_less/store/store_location.ts";

type Variables = Record<string, string>;

const ADDRESS = "https://animals.example/store/v1";
const DATABASE = "postgres://me@db.example/pets";
const WEBHOOK_KEY = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
const NEW_WEBHOOK_KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const KV_TOKEN = { DENO_KV_ACCESS_TOKEN: "x" };

const VALID: [variables: Variables, read: (config: ServiceConfig) => unknown, value: unknown][] = [
  [{ CORS_ORIGINS: "" }, (it) => it.corsOrigins, []],
  [
    { CORS_ORIGINS: "https://shop.example, http://localhost:5173,https://[::1]:8443" },
    (it) => it.corsOrigins,
    ["https://shop.example", "http://localhost:5173", "https://[::1]:8443"],
  ],
  [{ PUBLIC_URL: ADDRESS }, (it) => it.publicUrl, ADDRESS],
  [{ STAGING_URL: ADDRESS }, (it) => it.stagingUrl, ADDRESS],
  [
    { PUBLIC_URL: "HTTPS://Animals.example:443/<é>/v1" },
    (it) => it.publicUrl,
    "https://animals.example/%3C%C3%A9%3E/v1",
  ],
  [{ KV_PATH: "HTTP://localhost:1", ...KV_TOKEN }, storeOf, "HTTP://localhost:1"],
  [{ KV_PATH: "https/pets.sqlite3" }, storeOf, "https/pets.sqlite3"],
  [{ DATABASE_URL: DATABASE }, databaseOf, [undefined, undefined, false]],
  [
    { DATABASE_URL: DATABASE, PGPASSWORD: "one", PGPASSFILE: "file", READS: "strict" },
    databaseOf,
    ["one", "file", true],
  ],
  [
    { DATABASE_URL: "postgres://me:two@db.example/pets", PGPASSWORD: "one" },
    databaseOf,
    ["two", undefined, false],
  ],
  [{}, (it) => [it.processes, it.processNumber, it.accessLog], [undefined, undefined, false]],
  [{ ACCESS_LOG: "true", SUPERVISED_PROCESS: "2" }, (it) => [it.accessLog, it.processNumber], [
    true,
    2,
  ]],
  [{}, (it) => it.trustedProxies, undefined],
  [{ TRUSTED_PROXIES: "10.0.0.0/8, ::1" }, clientBehindProxy, "203.0.113.1"],
  [{ TRUSTED_PROXIES: "::1" }, clientBehindProxy, "10.0.0.1"],
  [{}, (it) => [it.webhookKeys, it.webhookAllow], [undefined, undefined]],
  [{ WEBHOOK_KEY }, (it) => it.webhookKeys!.latest, "66687aadf862bd77"],
  [{ WEBHOOK_KEY: `${NEW_WEBHOOK_KEY},${WEBHOOK_KEY}` }, secretsWith, [
    "630dcd2966c43366",
    true,
  ]],
  [{ WEBHOOK_ALLOW: "10.0.0.0/8, ::1" }, ({ webhookAllow }) => {
    return ["10.1.2.3", "::1", "127.0.0.1"].map((address) => webhookAllow!.has(address));
  }, [true, true, false]],
  [{ PROCESSES: "1" }, (it) => it.processes, undefined],
  [{ PROCESSES: "auto" }, (it) => it.processes, Math.min(navigator.hardwareConcurrency, 64)],
  [{}, (it) => it.metrics, undefined],
  [{}, (it) => it.makesStore, false],
  [{ NEW_STORE: "" }, (it) => it.makesStore, false],
  [{ NEW_STORE: "refuse" }, (it) => it.makesStore, false],
  [{ NEW_STORE: "make" }, (it) => it.makesStore, true],
  [{ KV_PATH: ":memory:" }, (it) => it.makesStore, true],
  [{ NEW_STORE: "make", KV_PATH: ":memory:" }, (it) => it.makesStore, true],
  [{ METRICS_PORT: "1" }, (it) => it.metrics, { port: 1, hostname: "127.0.0.1" }],
  [
    { METRICS_PORT: "65534", METRICS_HOST: "::", PROCESSES: "2", SUPERVISED_PROCESS: "2" },
    (it) => it.metrics,
    { port: 65_535, hostname: "::" },
  ],
  [{ RATE_LIMIT: "" }, (it) => it.rateLimit, undefined],
  [{ RATE_LIMIT: "1" }, (it) => it.rateLimit, 1],
  [{ RATE_LIMIT: "1000000" }, (it) => it.rateLimit, 1_000_000],
];

/** Settings by the message that refuses them. */
const FAULTY: Record<string, Variables[]> = {
  "CORS_ORIGINS must be": valuesOf("CORS_ORIGINS", [
    ...["*", "null", "shop.example", "https://shop.example/", "https://shop.example/app"],
    ...["https://Shop.example", "https://shop.example:443", "https://*.example"],
    ...["https://user@shop.example", "ftp://shop.example", "https://", "https://a.example,", ","],
  ]),
  "PUBLIC_URL must be": valuesOf("PUBLIC_URL", [
    ...["animals.example/v1", "ftp://animals.example/v1", "https://animals.example/"],
    ...["https://animals.example/v1/", "https://animals.example/v1?key=1"],
    ...["https://animals.example/v1#top", "https://me@a.example/v1", "https://a.example/xv1"],
  ]),
  "PORT must be a number from 0 to 65535": valuesOf("PORT", ["http", "65536", "-1"]),
  "METRICS_PORT must be a number from 1 to 65535, not": valuesOf("METRICS_PORT", [
    ...["0", "65536", "x"],
  ]),
  "METRICS_PORT must be a number from 1 to 65534, because each of 2 processes takes one, not": [
    { METRICS_PORT: "65535", PROCESSES: "2" },
  ],
  "NEW_STORE must be make or refuse": valuesOf("NEW_STORE", ["true", "REFUSE"]),
  "NEW_STORE must not be refuse if": [{ NEW_STORE: "refuse", KV_PATH: ":memory:" }],
  "HOST must be a host name": valuesOf("HOST", ["a,b", "*", "[::1]", "http://a"]),
  "RATE_LIMIT must be a whole number of requests per second from 1 to 1000000, not ": valuesOf(
    "RATE_LIMIT",
    ["0", "-1", "0.5", "1e3", "1000001", "9".repeat(400), "ten", " 5", "∞"],
  ),
  "PROCESSES must be auto or a number from 1 to 64": valuesOf("PROCESSES", ["0", "65", "all"]),
  "PROCESSES must be 1 if KV_PATH is :memory:": [{ PROCESSES: "2", KV_PATH: ":memory:" }],
  "ACCESS_LOG must be true or false": valuesOf("ACCESS_LOG", ["yes"]),
  "TRUSTED_PROXIES must be": valuesOf("TRUSTED_PROXIES", ["proxy.example", "10.0.0.0/33", "1"]),
  "WEBHOOK_KEY must be 32 bytes in base64": valuesOf("WEBHOOK_KEY", [
    ...["hunter2", `${"hunter2".repeat(6)}=`, `${WEBHOOK_KEY},`, ","],
    `${WEBHOOK_KEY},${WEBHOOK_KEY}`,
  ]),
  "WEBHOOK_ALLOW must be": valuesOf("WEBHOOK_ALLOW", ["localhost", "10.0.0.0/33", "1", "*"]),
  "KV_PATH must not contain credentials": valuesOf("KV_PATH", [
    ...["https://me:hunter2@kv.example", "https://hunter2@kv.example"],
    "https://kv.example/?token=hunter2",
  ]),
  "KV_PATH must be a file, :memory: or an http(s) address": valuesOf("KV_PATH", [
    ...["postgres://me:hunter2@db.example/pets", "http://", "http:/localhost:1"],
    ...["https:/kv.example", "HTTP:kv.example", "ftp://localhost/x"],
  ]),
  "DENO_KV_ACCESS_TOKEN must be set if": valuesOf("KV_PATH", ["http://localhost:1"]),
  "KV_PATH and DATABASE_URL must not both": [{ KV_PATH: "pets.sqlite3", DATABASE_URL: DATABASE }],
  "DATABASE_URL must begin with postgres://": [{
    DATABASE_URL: "mysql://me:hunter2@db.example/pets",
  }],
  "DATABASE_URL must have an sslmode of": [{ DATABASE_URL: `${DATABASE}?sslmode=allow` }],
  "READS has no effect without DATABASE_URL": [{ READS: "strict" }],
  "READS must be primary or strict": [{ DATABASE_URL: DATABASE, READS: "fast" }],
  "KV_PATH must not be set on Deno Deploy": [
    { DENO_DEPLOYMENT_ID: "test", KV_PATH: ":memory:" },
    { DENO_DEPLOYMENT_ID: "test", KV_PATH: "https://kv.example" },
  ],
  "A database must be attached on Deno Deploy": [
    { DENO_DEPLOYMENT_ID: "test", DENO_KV_DEFAULT_PATH: ":memory:" },
    { DENO_DEPLOYMENT_ID: "test", DENO_KV_DEFAULT_PATH: "pets.sqlite3" },
  ],
};

Deno.test("readServiceConfig() reads valid settings; an empty variable counts as unset", () => {
  for (const [variables, read, value] of VALID) {
    assertEquals(read(readWith(variables)), value, JSON.stringify(variables));
  }
});

Deno.test("readDevConfig() listens on loopback and makes a missing store, unless a variable says otherwise", () => {
  const read = (variables: Variables) => {
    const { hostname, makesStore } = readWith(variables, readDevConfig);
    return [hostname, makesStore];
  };
  assertEquals(read({}), ["127.0.0.1", true]);
  assertEquals(read({ HOST: "::", NEW_STORE: "refuse" }), ["::", false]);
});

for (const [message, cases] of Object.entries(FAULTY)) {
  Deno.test(`readServiceConfig() refuses settings in one line without a password: ${message}`, () => {
    const token = message.startsWith("DENO_KV_ACCESS_TOKEN") ? {} : KV_TOKEN;
    for (const variables of cases) {
      const read = () => readWith({ ...token, ...variables });
      assertEquals(/\n|hunter2/.test(assertThrows(read, ConfigError, message).message), false);
    }
  });
}

Deno.test("readServiceConfig() refuses several processes on a system other than Linux", () => {
  const platform = Object.getOwnPropertyDescriptor(process, "platform")!;
  Object.defineProperty(process, "platform", { value: "darwin", configurable: true });
  assertThrows(() => readWith({ PROCESSES: "2" }), ConfigError, "only Linux");
  Object.defineProperty(process, "platform", platform);
});

function valuesOf(name: string, values: string[]): Variables[] {
  return values.map((value) => ({ [name]: value }));
}

function clientBehindProxy({ trustedProxies }: ServiceConfig): string {
  const headers = new Headers({ "x-forwarded-for": "203.0.113.1" });
  return trustedProxies!.clientOf("10.0.0.1", headers);
}

/** The fingerprint of new secrets, and whether there are those of the old key. */
function secretsWith({ webhookKeys }: ServiceConfig): [string, boolean] {
  const old = { eventId: "01HZZZZZZZ0000000000000001", secretKey: "66687aadf862bd77" };
  return [webhookKeys!.latest, webhookKeys!.textOf(old) !== undefined];
}

function storeOf({ store }: ServiceConfig): string {
  return storeName(store);
}

function databaseOf({ store }: ServiceConfig): unknown[] {
  if (store.kind !== "postgres") return [];
  const { password, passfile, strictReads } = store.settings;
  return [password, passfile, strictReads];
}

/** Reads the settings in an environment of only those variables. */
function readWith(variables: Variables, readConfig = () => readServiceConfig()): ServiceConfig {
  using _ = stub(Deno.env, "get", (name) => variables[name]);
  return readConfig();
}
