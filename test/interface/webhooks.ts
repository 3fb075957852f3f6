import { NO_IDS } from "./no_ids.ts";
import { errorOf, type Section, type Story } from "./story.ts";

const URL = "https://shop.example/{word}";

/** A webhook with all terms. */
const FULL = `{"url":"${URL}","types":["PetCreated","CategoryNamed"],"description":"Zoë's shop"}`;

/** A webhook {hook} that was added at {created}. */
const ADDED = `
  > POST /webhooks
  > {"url":"${URL}"}
  < 201
  < etag: "{tag}"
  < {"id":"{hook}","url":"${URL}","status":"enabled","createdAt":"{created}","secret":"{secret}"}
`;

const SHOWN = `{"id":"{hook}","url":"${URL}","status":"enabled","createdAt":"{created}"}`;

/** The id of no webhook. */
const NOBODY = "01HZZZZZZZ9999999999999999";

const NOT_FOUND = errorOf(
  404,
  "webhook_not_found",
  "A webhook with this identifier does not exist",
);
const CHANGED = errorOf(
  412,
  "precondition_failed",
  "The webhook has changed since you read it: read it again",
);
const EXCLUDED = errorOf(
  412,
  "precondition_failed",
  "The webhook is in a state that If-None-Match excludes",
);
const REUSED = errorOf(
  409,
  "idempotency_key_reused",
  "The Idempotency-Key was sent with another request before; nothing was stored",
);
const READS_ONLY = errorOf(
  403,
  "read_only_key",
  "The API key may only read: use a key that may write",
);

const NO_TLS = 'Field "url" must begin with https://';
const PRIVATE = 'Field "url" must not lead to a private or special address';
const NO_URL = 'Field "url" must be an absolute URL';
const TYPES = 'Field "types" must name only PetCreated, PetUpdated, …';

const REFUSED: [what: string, body: string, message: string][] = [
  ["without a url", "{}", 'Field "url" is missing'],
  ["with a url that is null", '{"url":null}', 'Field "url" must be a string'],
  ["with a url that is a path", '{"url":"/hooks"}', NO_URL],
  ["with a url that has a blank", '{"url":"https://shop.example/ a"}', NO_URL],
  ["without TLS", '{"url":"http://shop.example/hooks"}', NO_TLS],
  ["with another scheme", '{"url":"ftp://shop.example/hooks"}', NO_TLS],
  [
    "with a user",
    '{"url":"https://me@shop.example/"}',
    'Field "url" must have no user and no password',
  ],
  ["with a fragment", '{"url":"https://shop.example/#a"}', 'Field "url" must have no fragment'],
  [
    "with a url of 2,001 characters",
    `{"url":"https://shop.example/${"a".repeat(1_980)}"}`,
    'Field "url" must be 1 to 2000 characters long',
  ],
  ...[
    ...["127.0.0.1", "10.0.0.1", "192.168.1.1", "169.254.169.254", "2130706433", "0x7f.1"],
    ...["[::1]", "[::ffff:127.0.0.1]", "[fd00::1]", "localhost", "shop.localhost."],
  ].map((host): [string, string, string] => [
    `that leads to ${host}`,
    `{"url":"https://${host}/hooks"}`,
    PRIVATE,
  ]),
  [
    "without a type",
    `{"url":"${URL}","types":[]}`,
    'Field "types" must not be empty: leave it out for all types',
  ],
  [
    "with a type twice",
    `{"url":"${URL}","types":["PetCreated","PetCreated"]}`,
    'Field "types" must name each type once',
  ],
  ["with an event of a key", `{"url":"${URL}","types":["ApiKeyIssued"]}`, TYPES],
  ["with an event of a webhook", `{"url":"${URL}","types":["WebhookAdded"]}`, TYPES],
  [
    "with one type",
    `{"url":"${URL}","types":"PetCreated"}`,
    'Field "types" must be a list of types',
  ],
  [
    "with a long description",
    `{"url":"${URL}","description":"${"a".repeat(201)}"}`,
    'Field "description" must be 1 to 200 characters long',
  ],
  [
    "with an id",
    `{"url":"${URL}","id":"${NOBODY}"}`,
    'Field "id" is assigned by the service: leave it out',
  ],
  [
    "with a secret",
    `{"url":"${URL}","secret":"whsec_"}`,
    'Field "secret" is not known; the fields are url, types, description',
  ],
];

const ADDITIONS: Story[] = [
  {
    clause: "a webhook that is added gets 201 with its id, its address, its secret and an ETag",
    told: `
      > POST /webhooks
      > ${FULL}
      < 201
      < content-type: application/json
      < location: {base}/webhooks/{hook}
      < cache-control: no-store
      < etag: "{tag}"
      < {"id":"{hook}",${FULL.slice(1, -1)},"status":"enabled","createdAt":"…","secret":"…"}
    `,
  },
  {
    clause: "a webhook is read as it was added, but without its secret",
    told: `
      ${ADDED}
      > GET /webhooks/{hook}
      < 200
      < content-type: application/json
      < cache-control: private, no-cache
      < etag: "{tag}"
      < ${SHOWN}
      > GET /webhooks
      < 200
      < […,${SHOWN},…]
    `,
  },
  {
    clause: "a repeated addition with the same Idempotency-Key shows the same secret again",
    told: [1, 2].map((time) => `
      > POST /webhooks
      > idempotency-key: {once}
      > {"url":"${URL}"}
      < 201
      < idempotency-replayed: ${time === 1 ? "(none)" : "true"}
      < location: {base}/webhooks/{hook}
      < {"id":"{hook}","secret":"{secret}",…}
    `).join(""),
  },
  {
    clause: "another addition with the same Idempotency-Key gets 409",
    told: `
      > POST /webhooks
      > idempotency-key: {once}
      > {"url":"${URL}"}
      < 201
      > POST /webhooks
      > idempotency-key: {once}
      > {"url":"${URL}","types":["PetCreated"]}
      < 409
      < ${REUSED}
    `,
  },
  ...REFUSED.map(([what, body, message]): Story => ({
    clause: `a webhook ${what} gets 400`,
    told: `
      > POST /webhooks
      > ${body}
      < 400
      < ${errorOf(400, "invalid_body", message)}
    `,
  })),
  {
    clause: "a webhook beyond the limit of 100 gets 409",
    needs: ["an empty store", "a clock"],
    told: `
      ~ 100 webhooks are added
      > POST /webhooks
      > {"url":"${URL}"}
      < 409
      < ${
      errorOf(
        409,
        "too_many_webhooks",
        "There are at most 100 webhooks: remove one of them first",
      )
    }
    `,
  },
];

const CHANGES: Story[] = [
  {
    clause: "a change of the terms leaves the others, and null removes one",
    told: `
      > POST /webhooks
      > ${FULL}
      < 201
      < {"id":"{hook}","createdAt":"{created}",…}
      > PATCH /webhooks/{hook}
      > {"url":"${URL}/2","types":null}
      < 200
      < etag: "{tag}"
      < {"id":"{hook}","url":"${URL}/2","description":"Zoë's shop","status":"enabled","createdAt":"{created}"}
      > GET /webhooks/{hook}
      < 200
      < etag: "{tag}"
    `,
  },
  {
    clause: "a change to the same terms changes nothing",
    told: `
      ${ADDED}
      > PATCH /webhooks/{hook}
      > {"url":"${URL}","description":null}
      < 200
      < etag: "{tag}"
      < ${SHOWN}
    `,
  },
  {
    clause:
      "a repeated change with the same Idempotency-Key gets the same response, also after another one",
    told: `
      ${ADDED}
      > PATCH /webhooks/{hook}
      > idempotency-key: {once}
      > {"description":"one"}
      < 200
      < etag: "{first}"
      > PATCH /webhooks/{hook}
      > {"description":"two"}
      < 200
      > PATCH /webhooks/{hook}
      > idempotency-key: {once}
      > {"description":"one"}
      < 200
      < idempotency-replayed: true
      < etag: "{first}"
      > GET /webhooks/{hook}
      < 200
      < {"description":"two",…}
    `,
  },
  ...[
    ["{}", "The body names no field to change: send any of url, types, description"],
    ['{"url":null}', 'Field "url" must be a string, or be left out'],
    ['{"url":"http://shop.example/"}', NO_TLS],
    ['{"url":"https://10.0.0.1/"}', PRIVATE],
    ['{"types":[]}', 'Field "types" must not be empty: leave it out for all types, or null'],
    ['{"status":"disabled"}', 'Field "status" is assigned by the service: leave it out'],
  ].map(([body, message]): Story => ({
    clause: `a change to ${body} gets 400`,
    told: `
      ${ADDED}
      > PATCH /webhooks/{hook}
      > ${body}
      < 400
      < ${errorOf(400, "invalid_body", message)}
    `,
  })),
  {
    clause: "a removed webhook is gone, and a repeated removal gets 404",
    told: `
      ${ADDED}
      > DELETE /webhooks/{hook}
      < 204
      < cache-control: no-store
      < (none)
      > GET /webhooks/{hook}
      < 404
      < ${NOT_FOUND}
      > DELETE /webhooks/{hook}
      < 404
      < ${NOT_FOUND}
    `,
  },
  {
    clause: "a repeated removal with the same Idempotency-Key gets 204",
    told: `
      ${ADDED}
      > DELETE /webhooks/{hook}
      > idempotency-key: {once}
      < 204
      > DELETE /webhooks/{hook}
      > idempotency-key: {once}
      < 204
      < idempotency-replayed: true
    `,
  },
  ...["PATCH", "DELETE"].map((method): Story => ({
    clause: `with If-Match, a ${method} of a webhook that has changed gets 412`,
    told: `
      ${ADDED}
      > PATCH /webhooks/{hook}
      > {"description":"one"}
      < 200
      > ${method} /webhooks/{hook}
      > if-match: "{tag}"
      ${method === "PATCH" ? '> {"description":"two"}' : ""}
      < 412
      < ${CHANGED}
    `,
  })),
  {
    clause: "with If-Match, a webhook that has its ETag still is changed and removed",
    told: `
      ${ADDED}
      > PATCH /webhooks/{hook}
      > if-match: "{tag}"
      > {"description":"one"}
      < 200
      < etag: "{second}"
      > DELETE /webhooks/{hook}
      > if-match: "{second}"
      < 204
    `,
  },
  {
    clause: "with If-None-Match: *, a webhook that is there is not changed",
    told: `
      ${ADDED}
      > PATCH /webhooks/{hook}
      > if-none-match: *
      > {"description":"one"}
      < 412
      < ${EXCLUDED}
    `,
  },
];

const SECRETS: Story[] = [
  {
    clause: "a rotation gets another secret, and leaves the webhook as it was",
    told: `
      ${ADDED}
      > POST /webhooks/{hook}/secret
      < 200
      < cache-control: no-store
      < etag: "{tag}"
      < {"id":"{hook}","url":"${URL}","status":"enabled","createdAt":"{created}","secret":"{other}"}
      > GET /webhooks/{hook}
      < 200
      < ${SHOWN}
    `,
  },
  {
    clause: "a repeated rotation with the same Idempotency-Key shows the same secret again",
    told: `
      ${ADDED}
      ${
      [1, 2].map((time) => `
      > POST /webhooks/{hook}/secret
      > idempotency-key: {once}
      < 200
      < idempotency-replayed: ${time === 1 ? "(none)" : "true"}
      < {"id":"{hook}","secret":"{other}",…}
      `).join("")
    }
    `,
  },
];

/** Requests about a webhook that does not exist. */
const OF_NOBODY: [request: string, body?: string][] = [
  [`GET /webhooks/${NOBODY}`],
  [`PATCH /webhooks/${NOBODY}`, '{"description":"one"}'],
  [`DELETE /webhooks/${NOBODY}`],
  [`POST /webhooks/${NOBODY}/secret`],
];

const needing = (stories: Story[]): Story[] =>
  stories.map((story) => ({ ...story, needs: ["webhooks", ...story.needs ?? []] }));

export const WEBHOOKS: Section = {
  title: "4.18 to 4.23 Webhooks",
  contract: [],
  beyond: [
    ...needing([...ADDITIONS, ...CHANGES, ...SECRETS]),
    ...needing(OF_NOBODY.map(([request, body = ""]): Story => ({
      clause: `${request} gets 404`,
      told: `
        > ${request}
        ${body === "" ? "" : `> ${body}`}
        < 404
        < ${NOT_FOUND}
      `,
    }))),
    ...NO_IDS.map((id): Story => ({
      clause: `GET /webhooks/${id} gets 404`,
      told: `
        > GET /webhooks/${id}
        < 404
        < ${NOT_FOUND}
      `,
    })),
    {
      clause: "a key that may only read gets webhooks, and changes none",
      needs: ["webhooks", "a read-only key"],
      told: `
        ${ADDED}
        > GET /webhooks/{hook}
        > authorization: Bearer {readOnlyKey}
        < 200
        < ${SHOWN}
        > GET /webhooks
        > authorization: Bearer {readOnlyKey}
        < 200
        ${
        ["POST /webhooks", "PATCH /webhooks/{hook}", "DELETE /webhooks/{hook}"].map((request) => `
        > ${request}
        > authorization: Bearer {readOnlyKey}
        < 403
        < ${READS_ONLY}
        `).join("")
      }
        > POST /webhooks/{hook}/secret
        > authorization: Bearer {readOnlyKey}
        < 403
        < ${READS_ONLY}
      `,
    },
    {
      clause: "the feed shows no event of a webhook",
      needs: ["webhooks", "an empty store"],
      told: `
        ${ADDED}
        > GET /events
        < 200
        < []
      `,
    },
  ],
};
