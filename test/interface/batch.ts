import { errorOf, type Section } from "./story.ts";
import { CHANGED, EXCLUDED, GONE, NOT_REMOVED } from "./told.ts";

const ADDS_REX = `
  > POST /pets
  > {"name":"Rex","categoryId":{category},"status":"available"}
  < 201
  < etag: "{tag}"
  < {"id":{rex},…}
`;

const REX = '{"id":{rex},"name":"Rex","categoryId":{category},"status":"available"}';
const SOLD = REX.replace("available", "sold");
const NEW_REX = '{"name":"Rex","categoryId":{category}}';
const ADDITION = `{"action":"add","body":${NEW_REX}}`;

const REUSED = errorOf(
  409,
  "idempotency_key_reused",
  "The Idempotency-Key was sent with another request before; nothing was stored",
);

const invalid = (message: string) => errorOf(400, "invalid_body", message);
const FIELDS_OF_OPERATION =
  "the fields are action, petId, ifMatch, ifNoneMatch, expected, idempotencyKey, body";

const EMPTY = errorOf(400, "malformed_body", "The body is empty: send one JSON object");

const REPEATED = onceOf(
  ADDITION,
  '{"action":"change","petId":{rex},"body":{"status":"sold"}}',
  '{"action":"remove","petId":{rex}}',
  '{"action":"remove","petId":{nobody}}',
);

/** The results of the operations, with `REPLAYED` for those that are not done again. */
const REPEATED_RESULTS = [
  '{"status":201,"etag":"\\"{addedTag}\\"","location":"{base}/pets/{added}","body":{"id":{added},…},REPLAYED}',
  `{"status":200,"etag":"\\"{sold}\\"","body":${SOLD},REPLAYED}`,
  '{"status":204,REPLAYED}',
  `{"status":404,"body":${GONE}}`,
];

export const BATCH: Section = {
  title: "4.15 Several at once",
  contract: [],
  beyond: [
    {
      clause: "an addition in a batch gets the status, the headers and the body of a single one",
      told: `
        ${batchOf(ADDITION)}
        ${
        resultsOf(`{
          "status":201,"etag":"\\"{tag}\\"","location":"{base}/pets/{rex}",
          "body":{"id":{rex},"name":"Rex","categoryId":{category}}
        }`)
      }
        > GET /pets/{rex}
        < 200
        < etag: "{tag}"
        < {"id":{rex},"name":"Rex","categoryId":{category}}
      `,
    },
    {
      clause: "a change in a batch gets the status, the ETag and the body of a single one",
      told: `
        ${ADDS_REX}
        ${batchOf('{"action":"change","petId":{rex},"body":{"status":"sold"}}')}
        ${resultsOf(`{"status":200,"etag":"\\"{sold}\\"","body":${SOLD}}`)}
        > GET /pets/{rex}
        < 200
        < etag: "{sold}"
        < ${SOLD}
      `,
    },
    {
      clause: "a removal and a restore in a batch get what single ones get",
      told: `
        ${ADDS_REX}
        ${batchOf('{"action":"remove","petId":{rex}}', '{"action":"restore","petId":{rex}}')}
        ${resultsOf('{"status":204}', `{"status":200,"etag":"\\"{tag}\\"","body":${REX}}`)}
        > GET /pets/{rex}/events
        < 200
        < [{"type":"PetRestored",…},{"type":"PetRemoved",…},{"type":"PetCreated",…}]
      `,
    },
    {
      clause: "operations for one animal are carried out one after the other, in their order",
      told: `
        ${ADDS_REX}
        ${
        batchOf(
          '{"action":"change","petId":{rex},"body":{"status":"sold"}}',
          '{"action":"change","petId":{rex},"body":{"status":"sold"}}',
          '{"action":"change","petId":{rex},"body":{"status":null}}',
          '{"action":"remove","petId":{rex}}',
          '{"action":"change","petId":{rex},"body":{"status":"sold"}}',
          '{"action":"restore","petId":{rex}}',
          '{"action":"restore","petId":{rex}}',
          '{"action":"change","petId":{rex},"body":{"status":"available"}}',
        )
      }
        ${
        resultsOf(
          `{"status":200,"etag":"…","body":${SOLD}}`,
          `{"status":200,"etag":"…","body":${SOLD}}`,
          '{"status":200,"etag":"…","body":{"id":{rex},"name":"Rex","categoryId":{category}}}',
          '{"status":204}',
          `{"status":404,"body":${GONE}}`,
          '{"status":200,"etag":"…","body":{"id":{rex},"name":"Rex","categoryId":{category}}}',
          `{"status":409,"body":${NOT_REMOVED}}`,
          `{"status":200,"etag":"\\"{tag}\\"","body":${REX}}`,
        )
      }
      `,
    },
    {
      clause: "animals are added in the order of the operations",
      told: `
        ${batchOf(...["a", "b", "c"].map((name) => ADDITION.replace('"Rex"', `"${name}"`)))}
        < 200
        > GET /pets?categoryId={category}&order=asc
        < 200
        < [{"name":"a",…},{"name":"b",…},{"name":"c",…}]
      `,
    },
    {
      clause: "an operation that is refused gets the Error of a single one, and stops no other",
      told: `
        ${ADDS_REX}
        ${
        batchOf(
          '{"action":"add","body":{"name":"Rex"}}',
          '{"action":"add"}',
          '{"action":"add","body":[]}',
          '{"action":"change","petId":{rex},"body":{}}',
          '{"action":"change","petId":{rex}}',
          '{"action":"remove","petId":{nobody}}',
          '{"action":"remove","petId":-1}',
          '{"action":"restore","petId":{rex}}',
          '{"action":"change","petId":{rex},"body":{"status":"sold"}}',
        )
      }
        ${
        resultsOf(
          `{"status":400,"body":${invalid('Field "categoryId" is missing')}}`,
          `{"status":400,"body":${EMPTY}}`,
          `{"status":400,"body":${
            errorOf(400, "malformed_body", "The body must be one JSON object")
          }}`,
          `{"status":400,"body":${
            invalid(
              "The body names no field to change: send any of name, categoryId, status, note…",
            )
          }}`,
          `{"status":400,"body":${EMPTY}}`,
          `{"status":404,"body":${GONE}}`,
          `{"status":404,"body":${GONE}}`,
          `{"status":409,"body":${NOT_REMOVED}}`,
          `{"status":200,"etag":"…","body":${SOLD}}`,
        )
      }
      `,
    },
    {
      clause: "ifMatch and ifNoneMatch are the headers of the single request",
      told: `
        ${ADDS_REX}
        ${
        batchOf(
          '{"action":"change","petId":{rex},"ifMatch":"\\"a\\"","body":{"status":"sold"}}',
          '{"action":"change","petId":{rex},"ifNoneMatch":"*","body":{"status":"sold"}}',
          '{"action":"change","petId":{rex},"ifMatch":"none","body":{"status":"sold"}}',
          '{"action":"change","petId":{rex},"ifMatch":"\\"{tag}\\"","body":{"status":"sold"}}',
          '{"action":"change","petId":{rex},"ifMatch":"\\"{tag}\\"","body":{"status":null}}',
          '{"action":"remove","petId":{rex},"ifMatch":"\\"{tag}\\""}',
          '{"action":"remove","petId":{rex},"ifNoneMatch":"\\"{tag}\\""}',
          '{"action":"restore","petId":{rex},"ifMatch":"\\"{tag}\\""}',
          '{"action":"restore","petId":{rex},"ifMatch":"*"}',
        )
      }
        ${
        resultsOf(
          `{"status":412,"body":${CHANGED}}`,
          `{"status":412,"body":${EXCLUDED}}`,
          `{"status":400,"body":${errorOf(400, "malformed_request", "Header If-Match must be …")}}`,
          `{"status":200,"etag":"…","body":${SOLD}}`,
          `{"status":412,"body":${CHANGED}}`,
          `{"status":412,"body":${CHANGED}}`,
          '{"status":204}',
          `{"status":412,"body":${CHANGED}}`,
          `{"status":200,"etag":"…","body":${SOLD}}`,
        )
      }
      `,
    },
    {
      clause:
        "expected takes an animal as it was read in place of its ETag, in any order of fields",
      told: `
        ${ADDS_REX}
        ${
        batchOf(
          `{"action":"change","petId":{rex},"expected":${REX},"body":{"status":"sold"}}`,
          `{"action":"change","petId":{rex},"expected":${REX},"body":{"status":null}}`,
          `{"action":"remove","petId":{rex},"expected":${REX}}`,
          '{"action":"remove","petId":{rex},"expected":' +
            '{"status":"sold","categoryId":{category},"name":"Rex","id":{rex}}}',
        )
      }
        ${
        resultsOf(
          `{"status":200,"etag":"…","body":${SOLD}}`,
          `{"status":412,"body":${CHANGED}}`,
          `{"status":412,"body":${CHANGED}}`,
          '{"status":204}',
        )
      }
      `,
    },
    {
      clause: "a batch has every digit of an int64",
      told: `
        ${batchOf('{"action":"add","body":{"name":"Rex","categoryId":9223372036854775807}}')}
        ${
        resultsOf(
          '{"status":201,"body":{"id":{rex},"name":"Rex","categoryId":9223372036854775807},…}',
        )
      }
      `,
    },
    {
      clause: "a batch may have 100 operations",
      told: `
        ${batchOf(...Array(100).fill(ADDITION))}
        ${resultsOf(...Array(100).fill('{"status":201,…}'))}
      `,
    },
    {
      clause: "a batch that is sent again with its Idempotency-Key does nothing twice",
      told: `
        ${ADDS_REX}
        ${REPEATED}
        ${resultsOf(...REPEATED_RESULTS.map((result) => result.replace(",REPLAYED", "")))}
        ${REPEATED}
        ${
        resultsOf(
          ...REPEATED_RESULTS.map((result) => result.replace(",REPLAYED", ',"replayed":true')),
        )
      }
        > GET /pets?categoryId={category}
        < 200
        < [{"id":{added},…}]
        > GET /pets/{rex}/events
        < 200
        < [{"type":"PetRemoved",…},{"type":"PetUpdated",…},{"type":"PetCreated",…}]
      `,
    },
    {
      clause: "white space makes no other batch",
      told: `
        > POST /pets/batch
        > idempotency-key: {once}
        > {"operations":[${ADDITION}]}
        ${resultsOf('{"status":201,…}')}
        > POST /pets/batch
        > idempotency-key: "{once}"
        > { "operations": [
        >   ${ADDITION} ] }
        ${resultsOf('{"status":201,"replayed":true,…}')}
      `,
    },
    {
      clause: "an Idempotency-Key with another batch gets 409, and nothing is stored",
      told: `
        ${onceOf(ADDITION, ADDITION)}
        ${resultsOf('{"status":201,"body":{"id":{rex},…},…}', '{"status":201,…}')}
        ${onceOf(ADDITION)}
        < 409
        < ${REUSED}
        ${onceOf(ADDITION, ADDITION, ADDITION)}
        < 409
        < ${REUSED}
        ${onceOf(ADDITION, ADDITION, '{"action":"remove","petId":{rex}}')}
        < 409
        < ${REUSED}
        > GET /pets?categoryId={category}
        < 200
        < [{…},{"id":{rex},…}]
      `,
    },
    {
      clause: "after 24 hours, another batch may have an Idempotency-Key",
      needs: ["a clock"],
      told: `
        ${onceOf(ADDITION, ADDITION)}
        ${resultsOf('{"status":201,…}', '{"status":201,…}')}
        ~ 25 hours pass
        ${onceOf(ADDITION)}
        ${resultsOf('{"status":201,"etag":"…","location":"…","body":{…}}')}
      `,
    },
    {
      clause: "an Idempotency-Key of a single request gets 409 with a batch",
      told: `
        > POST /pets
        > idempotency-key: {once}
        > ${NEW_REX}
        < 201
        ${onceOf(ADDITION)}
        < 409
        < ${REUSED}
        > GET /pets?categoryId={category}
        < 200
        < [{…}]
      `,
    },
    {
      clause: "an operation with an Idempotency-Key of its own is the single request with it",
      told: `
        ${onceOf(`{"action":"add","idempotencyKey":"{once} own","body":${NEW_REX}}`)}
        ${resultsOf(`{"status":400,"body":${errorOf(400, "invalid_idempotency_key")}}`)}
        ${onceOf(`{"action":"add","idempotencyKey":"{once}-own","body":${NEW_REX}}`)}
        ${
        resultsOf(
          '{"status":201,"etag":"\\"{tag}\\"","location":"{address}","body":{"id":{rex},…}}',
        )
      }
        > POST /pets/batch
        > idempotency-key: {once}-other
        > ${
        operationsOf(
          `{"action":"add","idempotencyKey":"\\"{once}-own\\"","body":${NEW_REX}}`,
          '{"action":"add","idempotencyKey":"{once}-own","body":{"name":"Max","categoryId":7}}',
        )
      }
        ${
        resultsOf(
          '{"status":201,"etag":"\\"{tag}\\"","location":"{address}","replayed":true,"body":{"id":{rex},…}}',
          `{"status":409,"body":${REUSED}}`,
        )
      }
        > POST /pets
        > idempotency-key: {once}-own
        > ${NEW_REX}
        < 201
        < idempotency-replayed: true
        < location: {address}
        < {"id":{rex},…}
      `,
    },
    {
      clause: "an operation with a wrong target is refused alone",
      told: `
        ${
        batchOf(
          '{"action":"remove"}',
          `{"action":"add","petId":{nobody},"body":${NEW_REX}}`,
          '{"action":"remove","petId":{nobody},"ifMatch":"*",' +
            '"expected":{"id":1,"name":"Rex","categoryId":7}}',
          ADDITION,
        )
      }
        ${
        resultsOf(
          `{"status":400,"body":${invalid('Field "petId" is missing')}}`,
          `{"status":400,"body":${
            invalid('Field "petId" is assigned by the service: leave it out')
          }}`,
          `{"status":400,"body":${invalid('Field "expected" cannot be used with ifMatch')}}`,
          '{"status":201,…}',
        )
      }
      `,
    },
    {
      clause: "a batch that is malformed gets 400, and nothing of it is carried out",
      told: `
        ${batchOf(ADDITION, '{"action":"sell","petId":{nobody}}')}
        < 400
        < ${invalid('operations[1]: Field "action" must be one of add, change, remove, restore')}
        > GET /pets?categoryId={category}
        < 200
        < []
      `,
    },
    {
      clause: "a batch that has not 1 to 100 operations gets 400",
      told: [
        ...['{"operations":[]}', '{"operations":{}}'],
        operationsOf(...Array(101).fill(ADDITION)),
      ].map((body) => refused(body, 'Field "operations" must be an array of 1 to 100 operations'))
        .join(""),
    },
    {
      clause: "an error of a batch says where the fault is",
      told: refused("{}", 'Field "operations" is missing') +
        refused(
          `{"operations":[${ADDITION}],"more":1}`,
          'Field "more" is not known; the fields are operations',
        ) +
        refused(operationsOf(ADDITION, "1"), "operations[1] must be an object") +
        refused(
          operationsOf(ADDITION, `{"body":${NEW_REX}}`),
          'operations[1]: Field "action" is missing',
        ) +
        refused(
          operationsOf('{"action":"remove","petId":"{nobody}"}'),
          'operations[0]: Field "petId" must be an integer from ' +
            "-9223372036854775808 to 9223372036854775807",
        ) +
        refused(
          operationsOf(`{"action":"add","ifMatch":null,"body":${NEW_REX}}`),
          'operations[0]: Field "ifMatch" must be a string, or be left out',
        ) +
        refused(
          operationsOf(`{"action":"add","etag":"","body":${NEW_REX}}`),
          `operations[0]: Field "etag" is not known; ${FIELDS_OF_OPERATION}`,
        ) +
        refused(
          operationsOf(`{"action":"remove","petId":{nobody},"expected":${NEW_REX}}`),
          'operations[0]: Field "expected" …',
        ),
    },
    {
      clause: "a field that is repeated anywhere in a batch gets 400",
      told: refused(
        operationsOf('{"action":"add","body":{"name":"a","name":"b"}}'),
        "A field is repeated in one of the objects of the body",
      ) + refused(
        `{"operations":[${ADDITION}],"operations":[${ADDITION}]}`,
        'Field "operations" is repeated',
      ),
    },
    {
      clause: "a batch that is no JSON object gets 400",
      told: `
        > POST /pets/batch
        > [${ADDITION}]
        < 400
        < ${errorOf(400, "malformed_body", "The body must be one JSON object")}
      `,
    },
  ],
};

function operationsOf(...operations: string[]): string {
  return `{"operations":[${operations.join()}]}`;
}

/** The request for a batch of these operations. */
function batchOf(...operations: string[]): string {
  return `
    > POST /pets/batch
    > ${operationsOf(...operations)}
  `;
}

function onceOf(...operations: string[]): string {
  return `
    > POST /pets/batch
    > idempotency-key: {once}
    > ${operationsOf(...operations)}
  `;
}

/** The response with these results. */
function resultsOf(...results: string[]): string {
  const lines = results.join(",\n").split("\n").map((line) => `< ${line.trim()}`);
  return `
    < 200
    < {"results":[
    ${lines.join("\n")}
    < ]}
  `;
}

function refused(body: string, message: string): string {
  return `
    > POST /pets/batch
    > ${body}
    < 400
    < ${invalid(message)}
  `;
}
