import { assert, assertEquals, assertThrows } from "@std/assert";
import { z } from "zod";
import { HttpError } from "../../../src/api/errors.ts";
import { parseBody, parsePatch } from "../../../src/api/requests/parse_body.ts";
import { CLAUSES } from "../../interface/sections.ts";
import { type Exchange, stepsOf } from "../../interface/story.ts";
import { isDescribed } from "../../support/assert_described.ts";

/** Requests, each with the schema that describes its body. */
const SCHEMAS: [request: RegExp, schema: string][] = [
  [/^POST \/pets$/, "PetInput"],
  [/^PATCH \/pets\/[^/]+$/, "PetPatch"],
];

/** A schema says neither of these, and JSON.parse() rounds numbers of so many digits. */
const BEYOND_SCHEMAS = /repeated|well-formed Unicode/;
const ROUNDED = /\d{16}/;

for (const [request, schema] of SCHEMAS) {
  Deno.test(`the schema ${schema} describes exactly the bodies that are accepted in the stories`, () => {
    const exchanges = exchangesWith(request);
    assert(exchanges.length > 20, `${exchanges.length} bodies`);
    for (const { sent: { body = "" }, expected } of exchanges) {
      const isBeyond = BEYOND_SCHEMAS.test(expected.body ?? "") || ROUNDED.test(body);
      const isAccepted = expected.status < 300 || isBeyond;
      const value = JSON.parse(body.replaceAll(/\{\w+\}/g, "7"));
      assertEquals(isDescribed(schema, value), isAccepted, body.slice(0, 100));
    }
  });
}

/** The exchanges of the stories of which the fields of the body decide whether it is accepted. */
function exchangesWith(request: RegExp): Exchange[] {
  return CLAUSES.flatMap(({ told }) => stepsOf(told)).flatMap((step) => {
    if (step.kind !== "exchange") return [];
    const { sent, expected } = step;
    const isDecided = expected.status < 300 || expected.body?.includes('"invalid_body"');
    const isOfRequest = request.test(`${sent.method} ${sent.path}`);
    return isOfRequest && isDecided ? [step] : [];
  });
}

Deno.test("parseBody() and parsePatch() name the fields of the schema that they were given", () => {
  const resource = z.strictObject({ label: z.string(), since: z.string() });
  const schema = resource.pick({ label: true });
  const refusals: [parse: () => unknown, message: string][] = [
    [
      () => parseBody('{"label":"Dogs","name":"Rex"}', schema, resource),
      'Field "name" is not known; the fields are label',
    ],
    [
      () => parseBody('{"label":"Dogs","since":"now"}', schema, resource),
      'Field "since" is assigned by the service: leave it out',
    ],
    [() => parseBody("{}", schema, resource), 'Field "label" is missing'],
    [
      () => parsePatch("{}", schema.partial(), resource),
      "The body names no field to change: send any of label",
    ],
  ];
  for (const [parse, message] of refusals) {
    assertEquals(assertThrows(parse, HttpError).message, message);
  }
});
