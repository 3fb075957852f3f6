import { errorOf, type Section, type Story } from "./story.ts";

const URL = "https://shop.example/{word}";

/** A webhook {hook}. */
const ADDED = `
  > POST /webhooks
  > {"url":"${URL}"}
  < 201
  < {"id":"{hook}","createdAt":"{created}",…}
`;

const SHOWN = `{"id":"{hook}","url":"${URL}","status":"enabled","createdAt":"{created}"}`;

/** The id of no webhook. */
const NOBODY = "01HZZZZZZZ9999999999999999";

/** An id of no event in the log. */
const OF_ANOTHER_LOG = "0000000000000001-0123456789abcdef";

const NOT_FOUND = errorOf(
  404,
  "webhook_not_found",
  "A webhook with this identifier does not exist",
);
const READS_ONLY = errorOf(
  403,
  "read_only_key",
  "The API key may only read: use a key that may write",
);

/** An animal, whose event is {event}. */
const ANIMAL = `
  > POST /pets
  > {"name":"Rex","categoryId":{category}}
  < 201
  < {"id":{rex},…}
  > GET /pets/{rex}/events
  < 200
  < [{"id":"{event}",…}]
`;

const STORIES: Story[] = [
  {
    clause: "a webhook that is enabled resumes, and stays as it is",
    told: `
        ${ADDED}
        > POST /webhooks/{hook}/resume
        > {}
        < 200
        < content-type: application/json
        < cache-control: no-store
        < ${SHOWN}
        > GET /webhooks/{hook}
        < 200
        < ${SHOWN}
      `,
  },
  {
    clause: "a webhook that is enabled resumes after an event",
    told: `
        ${ANIMAL}
        ${ADDED}
        > POST /webhooks/{hook}/resume
        > {"lastEventId":"{event}"}
        < 200
        < ${SHOWN}
      `,
  },
  {
    clause: "a webhook that the service has disabled says why, and is enabled by a resumption",
    needs: ["an empty store", "a clock"],
    told: `
        ${ADDED}
        ~ the endpoint is gone
        > GET /webhooks/{hook}
        < 200
        < {"id":"{hook}","url":"${URL}","status":"disabled","disabledReason":"gone","createdAt":"{created}"}
        > GET /webhooks/{hook}/attempts
        < 200
        < {"state":"disabled",…}
        > POST /webhooks/{hook}/resume
        > {}
        < 200
        < ${SHOWN}
        > POST /webhooks/{hook}/resume
        > {}
        < 200
        < ${SHOWN}
        > GET /webhooks/{hook}
        < 200
        < ${SHOWN}
      `,
  },
  {
    clause: "after a restore, a webhook resumes only after an event that the request names",
    needs: ["an empty store", "a clock"],
    told: `
        ${ADDED}
        ${ANIMAL}
        ~ nobody knows the places of consumers
        > GET /webhooks/{hook}/attempts
        < 200
        < {"state":"stopped",…}
        > POST /webhooks/{hook}/resume
        > {}
        < 409
        < ${
      errorOf(
        409,
        "webhook_stopped",
        "Nobody knows which events the endpoint has: send a lastEventId",
      )
    }
        > POST /webhooks/{hook}/resume
        > {"lastEventId":"{event}"}
        < 200
        > GET /webhooks/{hook}/attempts
        < 200
        < {"state":"working","lag":0,…}
      `,
  },
  {
    clause: "a resumption after an event of another log gets 410",
    told: `
        ${ADDED}
        > POST /webhooks/{hook}/resume
        > {"lastEventId":"${OF_ANOTHER_LOG}"}
        < 410
        < {"code":"feed_reset","message":"…","status":410}
      `,
  },
  ...[
    ['{"lastEventId":"7"}', 'Field "lastEventId" must be the id of an event'],
    ['{"lastEventId":7}', 'Field "lastEventId" must be the id of an event'],
    ['{"after":7}', 'Field "after" is not known; the fields are lastEventId'],
  ].map(([body, message]) => ({
    clause: `a resumption with ${body} gets 400`,
    told: `
        ${ADDED}
        > POST /webhooks/{hook}/resume
        > ${body}
        < 400
        < ${errorOf(400, "invalid_body", message)}
      `,
  })),
  {
    clause: "with If-Match, a webhook that has changed is not resumed",
    told: `
        ${ADDED}
        > POST /webhooks/{hook}/resume
        > if-match: "another"
        > {}
        < 412
        < {"code":"precondition_failed","message":"…","status":412}
      `,
  },
  {
    clause: "a test is sent at once, and is the latest attempt",
    told: `
        ${ADDED}
        > POST /webhooks/{hook}/attempts
        > {}
        < 200
        < content-type: application/json
        < cache-control: no-store
        < {"eventId":"{test}","time":"{time}",…}
        > GET /webhooks/{hook}/attempts
        < 200
        < cache-control: private, no-cache
        < {"state":"…","attempts":[{"eventId":"{test}","time":"{time}",…},…],…}
      `,
  },
  {
    clause: "an event is sent again, whatever its webhook gets",
    told: `
        ${ANIMAL}
        > POST /webhooks
        > {"url":"${URL}","types":["CategoryNamed"]}
        < 201
        < {"id":"{hook}",…}
        > POST /webhooks/{hook}/attempts
        > {"eventId":"{event}"}
        < 200
        < {"eventId":"{event}","time":"…",…}
      `,
  },
  {
    clause: "an attempt says which status the receiver answered, and what",
    needs: ["an empty store", "a clock"],
    told: `
        ${ADDED}
        ~ the receivers of webhooks are full
        > POST /webhooks/{hook}/attempts
        > {}
        < 200
        < {"eventId":"{test}","time":"…","durationMs":0,"status":507,"answer":"Full"}
        > GET /webhooks/{hook}/attempts
        < 200
        < {"state":"working","lag":0,"attempts":[{"eventId":"{test}","time":"…","durationMs":0,"status":507,"answer":"Full"}]}
      `,
  },
  ...[
    ['{"eventId":"now"}', 'Field "eventId" must be the id of an event'],
    [
      `{"eventId":"${"0".repeat(16)}-${"0".repeat(16)}"}`,
      'Field "eventId" names no event of the feed',
    ],
    ['{"id":"7"}', 'Field "id" is not known; the fields are eventId'],
  ].map(([body, message]) => ({
    clause: `an attempt with ${body} gets 400`,
    told: `
        ${ADDED}
        > POST /webhooks/{hook}/attempts
        > ${body}
        < 400
        < ${errorOf(400, "invalid_body", message)}
      `,
  })),
  {
    clause: "an attempt with an event of another log gets 410",
    told: `
        ${ADDED}
        > POST /webhooks/{hook}/attempts
        > {"eventId":"${OF_ANOTHER_LOG}"}
        < 410
        < {"code":"feed_reset","message":"…","status":410}
      `,
  },
  {
    clause: "a webhook that nobody has gets 404 for its attempts and its resumption",
    told: `
        > GET /webhooks/${NOBODY}/attempts
        < 404
        < ${NOT_FOUND}
        > POST /webhooks/${NOBODY}/attempts
        > {}
        < 404
        < ${NOT_FOUND}
        > POST /webhooks/${NOBODY}/resume
        > {}
        < 404
        < ${NOT_FOUND}
      `,
  },
  {
    clause: "a key that may only read sees the attempts, sends none and resumes nothing",
    needs: ["a read-only key"],
    told: `
        ${ADDED}
        > GET /webhooks/{hook}/attempts
        > authorization: Bearer {readOnlyKey}
        < 200
        > POST /webhooks/{hook}/attempts
        > authorization: Bearer {readOnlyKey}
        > {}
        < 403
        < ${READS_ONLY}
        > POST /webhooks/{hook}/resume
        > authorization: Bearer {readOnlyKey}
        > {}
        < 403
        < ${READS_ONLY}
      `,
  },
];

export const WEBHOOK_DELIVERIES: Section = {
  title: "4.24 Deliveries of webhooks",
  contract: [],
  beyond: STORIES.map((story) => ({ ...story, needs: ["webhooks", ...story.needs ?? []] })),
};
