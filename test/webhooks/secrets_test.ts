import { assertEquals, assertMatch, assertNotEquals, assertThrows } from "@std/assert";
import { rotatedSecrets } from "../../src/webhooks/rotated_secrets.ts";
import { secretsOf, WebhookKeys } from "../../src/webhooks/secrets.ts";
import { sampleId } from "../support/sample_log.ts";

const KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const OTHER_KEY = "/////////////////////////////////////////w8=";
const [FIRST, SECOND, THIRD] = [1, 2, 3].map(sampleId);
const HOUR_MS = 60 * 60 * 1_000;
const START = Date.parse("2026-01-01T00:00:00.000Z");

const at = (hours: number) => new Date(START + hours * HOUR_MS).toISOString();
const keysOf = (text: string) => WebhookKeys.parse(text)!;

Deno.test("WebhookKeys accepts one key of 32 bytes in base64, or two different ones", () => {
  for (const text of [KEY, OTHER_KEY, `${KEY},${OTHER_KEY}`, `${KEY}, ${OTHER_KEY}`]) {
    assertNotEquals(WebhookKeys.parse(text), undefined, text);
  }
  const url = OTHER_KEY.replaceAll("/", "_");
  const three = `${KEY},${OTHER_KEY},${KEY.replace("AAEC", "BBEC")}`;
  for (const text of ["", ",", KEY.slice(4), `A${KEY}`, url, `${KEY},${KEY}`, `${KEY},`, three]) {
    assertEquals(WebhookKeys.parse(text), undefined, text);
  }
  assertThrows(() => WebhookKeys.of([]), TypeError, "32 bytes");
  assertThrows(() => WebhookKeys.of([new Uint8Array(31)]), TypeError, "32 bytes");
});

Deno.test("WebhookKeys shows no key", () => {
  const shown = Deno.inspect(keysOf(KEY), { showHidden: true, depth: 10 });
  assertEquals([shown.includes(KEY), shown.includes("bytes")], [false, false], shown);
  assertEquals(JSON.stringify(keysOf(KEY)), "{}");
});

Deno.test("a secret follows from the key and the id of its event alone", () => {
  const keys = keysOf(KEY);
  const secret = { eventId: FIRST, secretKey: keys.latest };
  assertEquals(keys.latest, "630dcd2966c43366");
  assertEquals(keys.textOf(secret), "whsec_b82de3W8u+l7tf1tJUJCno1GG5/vQg4g9qsPHRSUg2w=");
  assertMatch(keys.textOf(secret)!, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assertEquals(keysOf(`${OTHER_KEY},${KEY}`).textOf(secret), keys.textOf(secret));
  assertNotEquals(keys.textOf({ ...secret, eventId: SECOND }), keys.textOf(secret));
  assertEquals(keysOf(OTHER_KEY).textOf(secret), undefined);
});

Deno.test("secretsOf() signs with a former secret for 24 hours after each rotation", () => {
  const keys = keysOf(KEY);
  const [first, second, third] = [FIRST, SECOND, THIRD].map((eventId) => {
    return { eventId, secretKey: keys.latest };
  });
  const twice = rotatedSecrets(rotatedSecrets([first], second, at(1)), third, at(2));
  assertEquals(twice, [third, { ...second, until: at(26) }, { ...first, until: at(25) }]);
  const idsAt = (hours: number) => {
    const ids = new Map([first, second, third].map((it) => [keys.textOf(it), it.eventId]));
    const texts = secretsOf({ secrets: twice }, keys, START + hours * HOUR_MS);
    return texts.map((text) => ids.get(text));
  };
  assertEquals(idsAt(24.99), [THIRD, SECOND, FIRST]);
  assertEquals(idsAt(25), [THIRD, SECOND]);
  assertEquals(idsAt(26), [THIRD]);
  // The next rotation leaves out what has ended.
  const next = rotatedSecrets(twice, { ...first, eventId: sampleId(4) }, at(25));
  assertEquals(next.map(({ eventId }) => eventId), [sampleId(4), THIRD, SECOND]);
});

Deno.test("at most ten secrets sign, and a further rotation ends the oldest one", () => {
  let secrets = [{ eventId: FIRST, secretKey: keysOf(KEY).latest }];
  for (let number = 2; number <= 12; number++) {
    secrets = rotatedSecrets(secrets, { ...secrets[0], eventId: sampleId(number) }, at(1));
  }
  const expected = Array.from({ length: 10 }, (_, index) => sampleId(12 - index));
  assertEquals(secrets.map(({ eventId }) => eventId), expected);
});

Deno.test("secretsOf() has none if the key of the latest secret is lost, and leaves out others", () => {
  const former = { eventId: FIRST, secretKey: keysOf(KEY).latest };
  const latest = { eventId: SECOND, secretKey: keysOf(OTHER_KEY).latest };
  const secrets = rotatedSecrets([former], latest, at(0));
  const countWith = (text: string) => secretsOf({ secrets }, keysOf(text), START).length;
  assertEquals(countWith(KEY), 0);
  assertEquals(countWith(OTHER_KEY), 1);
  assertEquals(countWith(`${OTHER_KEY},${KEY}`), 2);
});
