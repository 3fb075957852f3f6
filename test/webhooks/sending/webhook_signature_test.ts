import { assertEquals, assertThrows } from "@std/assert";
import { importTestPackage } from "../../support/import_test_package.ts";
import { permissions, testNeeding } from "../../support/test_needing.ts";
import { signatureHeaders } from "../../../src/webhooks/sending/webhook_signature.ts";

/** 32 bytes each, as those of the service. */
const SECRET = `whsec_${btoa("a".repeat(32))}`;
const NEW_SECRET = `whsec_${btoa("b".repeat(32))}`;
const FOREIGN_SECRET = `whsec_${btoa("c".repeat(32))}`;

const ID = "01KB9ZS6Q1W3B3T8K8Y7Q0V2XN";
const BODY = '{"type":"PetCreated","data":{"name":"Rëx 🐶"}}';

const MINUTE_MS = 60_000;

/** The package that receivers use is the judge. */
const test = testNeeding(permissions("env", "read"));

async function judgeOf(secret: string) {
  const { Webhook } = await importTestPackage("standardwebhooks");
  return new Webhook(secret);
}

/** Headers that were signed some time ago. */
function signed(secrets: string[], agoMs = 0): Record<string, string> {
  return signatureHeaders({ id: ID, time: Date.now() - agoMs, body: BODY }, secrets);
}

test("A receiver with the package standardwebhooks verifies a delivery", async () => {
  const judge = await judgeOf(SECRET);
  assertEquals(judge.verify(BODY, signed([SECRET])), JSON.parse(BODY));
  assertEquals(judge.verify(BODY, signed([SECRET], 4 * MINUTE_MS)), JSON.parse(BODY));
  const time = new Date();
  for (const key of ["a".repeat(32), "a", "\xff\xef\xbe", "\0\xff".repeat(32)]) {
    const secret = `whsec_${btoa(key)}`;
    const headers = signatureHeaders({ id: ID, time: time.getTime(), body: BODY }, [secret]);
    const expected = (await judgeOf(secret)).sign(ID, time, BODY);
    assertEquals(headers["webhook-signature"], expected);
  }
});

test("During a rotation, a receiver with either secret verifies a delivery", async () => {
  const headers = signed([NEW_SECRET, SECRET]);
  for (const secret of [SECRET, NEW_SECRET]) {
    assertEquals((await judgeOf(secret)).verify(BODY, headers), JSON.parse(BODY));
  }
  const foreign = await judgeOf(FOREIGN_SECRET);
  assertThrows(() => foreign.verify(BODY, headers), Error, "No matching signature found");
});

test("It refuses an altered, an old and a foreign delivery", async () => {
  const judge = await judgeOf(SECRET);
  const headers = signed([SECRET]);
  const altered: [body: string, headers: Record<string, string>][] = [
    [`${BODY} `, headers],
    [BODY.replace("Rëx", "Max"), headers],
    [BODY, { ...headers, "webhook-id": ID.replace("01", "02") }],
    [BODY, { ...headers, "webhook-timestamp": `${Number(headers["webhook-timestamp"]) + 1}` }],
    [BODY, { ...headers, "webhook-signature": headers["webhook-signature"].replace("v1", "v2") }],
    [BODY, signed([FOREIGN_SECRET])],
  ];
  for (const [body, of] of altered) {
    assertThrows(() => judge.verify(body, of), Error, "No matching signature found");
  }
  const old = signed([SECRET], 6 * MINUTE_MS);
  assertThrows(() => judge.verify(BODY, old), Error, "Message timestamp too old");
  const early = signed([SECRET], -6 * MINUTE_MS);
  assertThrows(() => judge.verify(BODY, early), Error, "Message timestamp too new");
});
