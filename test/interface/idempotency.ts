import { errorOf, type Section } from "./story.ts";
import { adds } from "./told.ts";

const ADD_REX = adds("rex", '{"name":"Rex","categoryId":{category},"status":"available"}');

const REUSED = errorOf(
  409,
  "idempotency_key_reused",
  "The Idempotency-Key was sent with another request before; nothing was stored",
);

const INVALID = errorOf(
  400,
  "invalid_idempotency_key",
  "Header Idempotency-Key must be 1 to 255 characters of visible ASCII, such as a UUID; " +
    "in double quotes, also with spaces and commas",
);

/** `{once}` has 13 characters. */
const LONGEST = `{once}${"k".repeat(255 - 13)}`;
const LONGEST_QUOTED = LONGEST.slice(0, -2);

/** Two values of the header that are the same key. */
const SAME_KEYS = [
  ["with and without quotes", "{once}", '"{once}"'],
  ["with 255 characters", LONGEST, LONGEST],
  ["with 255 characters, of which two are quotes", LONGEST_QUOTED, `"${LONGEST_QUOTED}"`],
  ["with backslashes", String.raw`{once}\\b`, String.raw`"{once}\\\\b"`],
  ["with quotes in quotes", String.raw`"{once} a\"b\\c, d"`, String.raw`"{once} a\"b\\c, d"`],
];

const INVALID_KEYS = [
  ...["", '""', "k".repeat(256), `"${"k".repeat(254)}"`, "a, b", "a,b", '"a", "b"', '"'],
  ...['"a', String.raw`"a\"`, "é", "a b", 'a"b', '"a\tb"', String.raw`"a\b"`, '"a"b"', '"a"; p=1'],
];

export const IDEMPOTENCY: Section = {
  title: "Idempotency-Key",
  contract: [],
  beyond: [
    {
      clause: "an addition that is sent again adds nothing and gets the first response",
      told: `
        > POST /pets
        > idempotency-key: {once}
        > {"name":"Rex","categoryId":{category}}
        < 201
        < idempotency-replayed: (none)
        < location: {address}
        < etag: "{tag}"
        < {"id":{rex},"name":"Rex","categoryId":{category}}
        > POST /pets
        > idempotency-key: {once}
        > {"name":"Rex","categoryId":{category}}
        < 201
        < idempotency-replayed: true
        < location: {address}
        < etag: "{tag}"
        < {"id":{rex},"name":"Rex","categoryId":{category}}
        > GET /pets?categoryId={category}
        < 200
        < [{"id":{rex},…}]
      `,
    },
    {
      clause: "an Idempotency-Key is remembered for 24 hours",
      needs: ["a clock"],
      told: `
        > POST /pets
        > idempotency-key: {once}
        > {"name":"Rex","categoryId":{category}}
        < 201
        < {"id":{rex},…}
        ~ 23 hours pass
        > POST /pets
        > idempotency-key: {once}
        > {"name":"Rex","categoryId":{category}}
        < 201
        < idempotency-replayed: true
        < {"id":{rex},…}
        ~ 2 hours pass
        > POST /pets
        > idempotency-key: {once}
        > {"name":"Rex","categoryId":{category}}
        < 201
        < idempotency-replayed: (none)
        < {"id":{other},…}
      `,
    },
    {
      clause: "two texts that mean the same are the same request",
      told: String.raw`
        > POST /pets
        > idempotency-key: {once}
        > {"name":"Rex","categoryId":{category},"status":"sold"}
        < 201
        < {"id":{rex},…}
        > POST /pets
        > idempotency-key: {once}
        > { "status": "sold", "categoryId": {category}.0, "name": "\u0052ex" }
        < 201
        < idempotency-replayed: true
        < {"id":{rex},"name":"Rex","categoryId":{category},"status":"sold"}
      `,
    },
    {
      clause: "without an Idempotency-Key, the same addition adds another animal",
      told: `
        ${ADD_REX}
        > POST /pets
        > {"name":"Rex","categoryId":{category},"status":"available"}
        < 201
        < idempotency-replayed: (none)
        < {"id":{other},…}
      `,
    },
    {
      clause: "an addition of a removed animal that is sent again does not bring it back",
      told: `
        > POST /pets
        > idempotency-key: {once}
        > {"name":"Rex","categoryId":{category}}
        < 201
        < {"id":{rex},…}
        > DELETE /pets/{rex}
        < 204
        > POST /pets
        > idempotency-key: {once}
        > {"name":"Rex","categoryId":{category}}
        < 201
        < idempotency-replayed: true
        < {"id":{rex},"name":"Rex","categoryId":{category}}
        > GET /pets?categoryId={category}
        < 200
        < []
      `,
    },
    {
      clause: "a change that is sent again changes nothing and gets the first response",
      told: `
        ${ADD_REX}
        > PATCH /pets/{rex}
        > idempotency-key: {once}
        > {"status":"sold"}
        < 200
        < idempotency-replayed: (none)
        < etag: "{sold}"
        > PATCH /pets/{rex}
        > {"status":"pending"}
        < 200
        < etag: "{pending}"
        > PATCH /pets/{rex}
        > idempotency-key: {once}
        > {"status":"sold"}
        < 200
        < idempotency-replayed: true
        < etag: "{sold}"
        < {"id":{rex},"name":"Rex","categoryId":{category},"status":"sold"}
        > GET /pets/{rex}
        < 200
        < etag: "{pending}"
      `,
    },
    {
      clause:
        "a change with If-Match that is sent again gets the first response, although it is another animal now",
      told: `
        > POST /pets
        > {"name":"Rex","categoryId":{category}}
        < 201
        < etag: "{tag}"
        < {"id":{rex},…}
        > PATCH /pets/{rex}
        > idempotency-key: {once}
        > if-match: "{tag}"
        > {"status":"sold"}
        < 200
        > PATCH /pets/{rex}
        > idempotency-key: {once}
        > if-match: "{tag}"
        > {"status":"sold"}
        < 200
        < idempotency-replayed: true
      `,
    },
    {
      clause: "a removal that is sent again gets 204",
      told: `
        ${ADD_REX}
        > DELETE /pets/{rex}
        > idempotency-key: {once}
        < 204
        < idempotency-replayed: (none)
        > DELETE /pets/{rex}
        > idempotency-key: {once}
        < 204
        < idempotency-replayed: true
        < etag: (none)
        < (none)
        > GET /pets/{rex}/events
        < 200
        < [{"type":"PetRemoved",…},{"type":"PetCreated",…}]
      `,
    },
    {
      clause: "a restore that is sent again gets the first response",
      told: `
        > POST /pets
        > {"name":"Rex","categoryId":{category}}
        < 201
        < etag: "{tag}"
        < {"id":{rex},…}
        > DELETE /pets/{rex}
        < 204
        > POST /pets/{rex}/restore
        > idempotency-key: {once}
        > if-match: "{tag}"
        < 200
        < idempotency-replayed: (none)
        < etag: "{tag}"
        > POST /pets/{rex}/restore
        > idempotency-key: {once}
        > if-match: "{tag}"
        < 200
        < idempotency-replayed: true
        < etag: "{tag}"
        < {"id":{rex},"name":"Rex","categoryId":{category}}
        > GET /pets/{rex}/events
        < 200
        < [{"type":"PetRestored",…},{"type":"PetRemoved",…},{"type":"PetCreated",…}]
      `,
    },
    {
      clause: "an Idempotency-Key with another request gets 409, and nothing is stored",
      told: `
        > POST /pets
        > idempotency-key: {once}
        > {"name":"Rex","categoryId":{category}}
        < 201
        < {"id":{rex},…}
        > POST /pets
        > idempotency-key: {once}
        > {"name":"Mia","categoryId":{category}}
        < 409
        < ${REUSED}
        > PATCH /pets/{rex}
        > idempotency-key: {once}
        > {"status":"sold"}
        < 409
        < ${REUSED}
        > DELETE /pets/{rex}
        > idempotency-key: {once}
        < 409
        < ${REUSED}
        > GET /pets?categoryId={category}
        < 200
        < [{"id":{rex},"name":"Rex","categoryId":{category}}]
      `,
    },
    {
      clause: "the Idempotency-Key of a change, a removal or a restore is that of one animal",
      told: `
        ${ADD_REX}
        > POST /pets
        > {"name":"Max","categoryId":{category}}
        < 201
        < {"id":{max},…}
        ${ofOneAnimal('"{once} change"', "PATCH /pets/{id}", '> {"name":"Mia"}', 200)}
        ${ofOneAnimal('"{once} removal"', "DELETE /pets/{id}", "", 204)}
        > DELETE /pets/{max}
        < 204
        ${ofOneAnimal('"{once} restore"', "POST /pets/{id}/restore", "", 200)}
      `,
    },
    {
      clause: "a change of more or of fewer fields is another request",
      told: `
        ${ADD_REX}
        > PATCH /pets/{rex}
        > idempotency-key: {once}
        > {"name":"Mia","status":"sold"}
        < 200
        > PATCH /pets/{rex}
        > idempotency-key: {once}
        > {"status":"sold"}
        < 409
        < ${REUSED}
        > PATCH /pets/{rex}
        > idempotency-key: {once}
        > {"status":"sold","name":"Mia","note":"Shy"}
        < 409
        < ${REUSED}
      `,
    },
    ...SAME_KEYS.map(([what, first, second]) => ({
      clause: `the same Idempotency-Key may be written ${what}`,
      told: `
        > POST /pets
        > idempotency-key: ${first}
        > {"name":"Rex","categoryId":{category}}
        < 201
        < {"id":{rex},…}
        > POST /pets
        > idempotency-key: ${second}
        > {"name":"Rex","categoryId":{category}}
        < 201
        < idempotency-replayed: true
        < {"id":{rex},…}
      `,
    })),
    {
      clause: "two Idempotency-Keys that differ in a character are two",
      told: `
        > POST /pets
        > idempotency-key: {once}
        > {"name":"Rex","categoryId":{category}}
        < 201
        < {"id":{rex},…}
        > POST /pets
        > idempotency-key: "{once} "
        > {"name":"Rex","categoryId":{category}}
        < 201
        < idempotency-replayed: (none)
        < {"id":{other},…}
      `,
    },
    {
      clause: "an Idempotency-Key that is not valid gets 400",
      told: INVALID_KEYS.map((key) => `
        > POST /pets
        > idempotency-key: ${key}
        > {"name":"Rex","categoryId":7}
        < 400
        < ${INVALID}
      `).join(""),
    },
    {
      clause: "an Idempotency-Key that is not valid gets 400 from each write of an animal",
      told: [
        ["PATCH /pets/{nobody}", '> {"status":"sold"}'],
        ["DELETE /pets/{nobody}", ""],
        ["POST /pets/{nobody}/restore", ""],
        ["POST /pets/batch", '> {"operations":[{"action":"remove","petId":{nobody}}]}'],
      ].map(([request, body]) => `
        > ${request}
        > idempotency-key: a, b
        ${body}
        < 400
        < ${INVALID}
      `).join(""),
    },
    {
      clause: "a change that finds nothing to change does not remember its Idempotency-Key",
      told: `
        ${ADD_REX}
        > PATCH /pets/{rex}
        > idempotency-key: {once}
        > {"status":"available"}
        < 200
        > PATCH /pets/{rex}
        > {"status":"sold"}
        < 200
        > PATCH /pets/{rex}
        > idempotency-key: {once}
        > {"status":"available"}
        < 200
        < idempotency-replayed: (none)
        < {"id":{rex},"name":"Rex","categoryId":{category},"status":"available"}
      `,
    },
    {
      clause: "If-Match keeps the retry of such a change from undoing a later one",
      told: `
        > POST /pets
        > {"name":"Rex","categoryId":{category},"status":"available"}
        < 201
        < etag: "{tag}"
        < {"id":{rex},…}
        > PATCH /pets/{rex}
        > idempotency-key: {once}
        > if-match: "{tag}"
        > {"status":"available"}
        < 200
        > PATCH /pets/{rex}
        > {"status":"sold"}
        < 200
        > PATCH /pets/{rex}
        > idempotency-key: {once}
        > if-match: "{tag}"
        > {"status":"available"}
        < 412
        < ${errorOf(412, "precondition_failed")}
      `,
    },
    {
      clause: "after 24 hours, the same key is that of another request",
      needs: ["a clock"],
      told: `
        > POST /pets
        > idempotency-key: {once}
        > {"name":"Rex","categoryId":{category}}
        < 201
        < {"id":{rex},…}
        ~ 23 hours pass
        > POST /pets
        > idempotency-key: {once}
        > {"name":"Rex","categoryId":{category}}
        < 201
        < idempotency-replayed: true
        < {"id":{rex},…}
        ~ 1 hour passes
        > POST /pets
        > idempotency-key: {once}
        > {"name":"Max","categoryId":{category}}
        < 201
        < idempotency-replayed: (none)
        < {"id":{max},…}
      `,
    },
  ],
};

/** A write of Rex, and then the same of Max with the same key. */
function ofOneAnimal(key: string, request: string, body: string, status: number): string {
  return `
    > ${request.replace("{id}", "{rex}")}
    > idempotency-key: ${key}
    ${body}
    < ${status}
    > ${request.replace("{id}", "{max}")}
    > idempotency-key: ${key}
    ${body}
    < 409
    < ${REUSED}
  `;
}
