import { errorOf, type Section } from "./story.ts";

const FIELDS = "the fields are name, categoryId, status, note…";
const INT64 =
  'Field "categoryId" must be an integer from -9223372036854775808 to 9223372036854775807';
const STATUS = 'Field "status" must be one of available, pending, sold';

const LIMIT_BYTES = 65_536;
const ENDS_OF_LONG = ['{"name":"Rex",', '"categoryId":7}'];

/** A body of so many bytes. */
function bodyOf(bytes: number): string {
  const padding = bytes - ENDS_OF_LONG.join("").length;
  return ENDS_OF_LONG.join(" ".repeat(padding));
}

const rex = (member: string) => `{"name":"Rex","categoryId":7,${member}}`;
const named = (name: string) => `{"name":${name},"categoryId":7}`;
const categorized = (categoryId: string) => `{"name":"Rex","categoryId":${categoryId}}`;

export const BODIES: Section = {
  title: "2 Bodies",
  contract: [],
  beyond: [
    {
      clause: "an addition says which fields it lacks",
      told: refused(["{}"], 'Field "name" is missing; Field "categoryId" is missing'),
    },
    {
      clause: "an addition with an id gets 400, because the service assigns it",
      told: refused(
        ['{"id":"secret","name":"Rex","categoryId":7}', rex('"id":7')],
        'Field "id" is assigned by the service: leave it out',
      ),
    },
    {
      clause: "an unknown field gets 400 with the fields that there are",
      told: ["colour", "__proto__", "toString", "Name", "name ", "", "é"].map((name) =>
        refused([rex(`"${name}":1`)], `Field "${name}" is not known; ${FIELDS}`)
      ).join(""),
    },
    {
      clause: "of many unknown fields, an error names five and says how many more there are",
      told: refused(
        [rex([1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => `"f${number}":0`).join())],
        [1, 2, 3, 4, 5].map((number) => `Field "f${number}" is not known`).join("; ") +
          `; and 4 more; ${FIELDS}`,
      ),
    },
    {
      clause: "a field that is repeated gets 400, also if it is written with an escape",
      told: refused(
        [rex('"name":"Tom"'), rex('"name":"Rex"'), rex(String.raw`"n\u0061me":"Rex"`)],
        'Field "name" is repeated',
      ),
    },
    {
      clause: "a field that is null gets 400",
      told: refused([named("null")], 'Field "name" must be a string') +
        refused([categorized("null")], INT64) +
        refused([rex('"status":null')], `${STATUS}, or be left out`) +
        refused([rex('"note":null')], 'Field "note" must be a string, or be left out'),
    },
    {
      clause: "a name that is not a text gets 400",
      told: refused(["1", "true", '["Rex"]', "{}"].map(named), 'Field "name" must be a string'),
    },
    {
      clause: "a name has 1 to 1,000 characters, which need not be one code unit each",
      told: refused(
        ['""', `"${"x".repeat(1_001)}"`, `"${"🐈".repeat(1_000)}!"`].map(named),
        'Field "name" must be 1 to 1000 characters long',
      ),
    },
    {
      clause: "a name that is not well-formed Unicode gets 400",
      told: refused(
        [String.raw`"\ud83d"`, String.raw`"\udc08\ud83d"`, String.raw`"Rex \uD83D!"`].map(named),
        'Field "name" must be well-formed Unicode, without a lone surrogate',
      ),
    },
    {
      clause: "a note has 1 to 2,000 characters of well-formed Unicode",
      told: refused(
        ['"note":""', `"note":"${"x".repeat(2_001)}"`].map(rex),
        'Field "note" must be 1 to 2000 characters long',
      ) + refused(['"note":7'].map(rex), 'Field "note" must be a string') +
        refused(
          [String.raw`"note":"\ud83d"`].map(rex),
          'Field "note" must be well-formed Unicode, without a lone surrogate',
        ) + `
          > POST /pets
          > {"name":"Rex","categoryId":{category},"note":"${"🐈".repeat(2_000)}"}
          < 201
          < {"id":…,"name":"Rex","categoryId":{category},"note":"${"🐈".repeat(2_000)}"}
        `,
    },
    {
      clause: "a categoryId that is no int64 gets 400",
      told: refused(
        [
          ...["7.5", "9007199254740991.4", "1e30", '"7"', "true", "[7]", "{}"],
          ...["9223372036854775808", "-9223372036854775809"],
        ].map(categorized),
        INT64,
      ),
    },
    {
      clause: "a status that is none of the three gets 400 with them",
      told: refused(
        ['"lost"', '"SOLD"', '""', '["sold"]', "1"].map((it) => rex(`"status":${it}`)),
        STATUS,
      ),
    },
    {
      clause: "a body that is no JSON object gets 400",
      told: malformed(
        ["[]", "null", '"secret"', "1.5", "true", '[{"name":"Rex","categoryId":7}]'],
        "must be one JSON object",
      ),
    },
    {
      clause: "a body that is missing or empty gets 400",
      told: `
        > POST /pets
        < 400
        < ${errorOf(400, "malformed_body", "The body is empty: send one JSON object")}
        > PATCH /pets/{nobody}
        > content-type: application/json
        < 400
        < ${errorOf(400, "malformed_body", "The body is empty: send one JSON object")}
      `,
    },
    ...[
      ["a=b", 1, 1, "unexpected character"],
      ["// Rex\n{}", 1, 1, "unexpected character"],
      ["{'name':'Rex'}", 1, 2, "expected property name or '}'"],
      ['{"name":secret}', 1, 9, "unexpected character"],
      ['{"categoryId":NaN}', 1, 15, "unexpected character"],
      ['{\n "name": "R\\"x",\n "status":}', 3, 11, "unexpected character"],
      [
        '{\n  "name": "Rex"\n  "categoryId": 7\n}',
        3,
        3,
        "expected ',' or '}' after property value",
      ],
      [`{"name":"${"x".repeat(29_990)}", "a":Infinity}`, 1, 30_007, "unexpected character"],
      ['\ufeff{"name":"Rex","categoryId":7}', 1, 1, "unexpected byte order mark"],
    ].map(([body, line, column, fault]) => ({
      clause: `malformed JSON gets 400 with the place of the fault: ${nameOf(String(body))}`,
      told: malformed(
        [String(body)],
        `is not valid JSON at line ${line}, column ${column}: ${fault}`,
      ),
    })),
    {
      clause: "a body that is nested too deep gets 400",
      told: malformed(
        [
          "[".repeat(20_000) + "]".repeat(20_000),
          '{"a":'.repeat(10_000) + "1" + "}".repeat(10_000),
        ],
        "is nested too deep",
      ),
    },
    {
      clause: "a body is declared as JSON in UTF-8, in every notation of the media type",
      told: [
        ...["application/json", "Application/JSON", "application/json;charset=utf-8"],
        ...['application/json; charset="UTF-8"', "application/json ; charset=UTF-8"],
        "application/json;",
      ].map((type) => `
        > POST /pets
        > content-type: ${type}
        > {"name":"Rex","categoryId":{category}}
        < 201
      `).join(""),
    },
    {
      clause: "a body in another media type gets 415",
      told: [
        ...["text/plain", "", "application/jsonp", "json", "application/json-patch+json"],
        ...["multipart/form-data", "application/json; charset=latin1"],
        "application/merge-patch+json",
      ].map((type) => `
        > POST /pets
        > content-type: ${type}
        > {"name":"Rex","categoryId":7}
        < 415
        < accept-patch: (none)
        < ${
        errorOf(
          415,
          "unsupported_media_type",
          "The Content-Type must be application/json, in UTF-8",
        )
      }
      `).join(""),
    },
    {
      clause: "a body without a media type gets 415",
      told: `
        > POST /pets
        > content-type: (none)
        > {"name":"Rex","categoryId":7}
        < 415
        < ${
        errorOf(
          415,
          "unsupported_media_type",
          "The Content-Type header is missing: send one JSON object as application/json",
        )
      }
      `,
    },
    {
      clause: "a body may say that it is not encoded",
      told: `
        > POST /pets
        > content-encoding: Identity
        > {"name":"Rex","categoryId":{category}}
        < 201
      `,
    },
    {
      clause: "a body that is encoded gets 415, which says that none may be",
      told: ["POST /pets", "PATCH /pets/{nobody}"].map((request) => `
        > ${request}
        > content-encoding: gzip
        > {"name":"Rex","categoryId":7}
        < 415
        < accept-encoding: identity
        < ${errorOf(415, "unsupported_media_type", "The body must not be encoded")}
      `).join(""),
    },
    {
      clause: "a body may have 64 KiB, and not a byte more",
      // HAProxy refuses it in other words.
      needs: ["no proxy"],
      told: `
        > POST /pets
        > ${bodyOf(LIMIT_BYTES)}
        < 201
        ${
        [
          ...[
            "POST /pets",
            "PATCH /pets/{nobody}",
            "POST /pets/batch",
            "POST /pets/{nobody}/restore",
          ],
          ...["PUT /categories/{category}", "DELETE /categories/{category}"],
        ].map((request) => `
          > ${request}
          > ${bodyOf(LIMIT_BYTES + 1)}
          < 413
          < ${errorOf(413, "body_too_large", "The body is larger than 65536 bytes")}
        `).join("")
      }
      `,
    },
  ],
};

/** Each of these bodies of an addition gets 400 with that message. */
function refused(bodies: string[], message: string): string {
  return additions(bodies, errorOf(400, "invalid_body", message));
}

/** The same for bodies that are not even an object. */
function malformed(bodies: string[], fault: string): string {
  return additions(bodies, errorOf(400, "malformed_body", `The body ${fault}`));
}

function additions(bodies: string[], error: string): string {
  return bodies.map((body) => `
    > POST /pets
    ${body.replace(/^/gm, "> ")}
    < 400
    < ${error}
  `).join("");
}

function nameOf(body: string): string {
  return JSON.stringify(body.length > 50 ? `${body.slice(0, 20)}…` : body);
}
