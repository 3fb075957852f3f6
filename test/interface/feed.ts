import { BY_ID, BY_KEY, eventOf, WHO } from "./event_of.ts";
import { errorOf, type Section, type Story } from "./story.ts";
import { adds } from "./told.ts";

/** Learns the position at the end of the feed. */
const FROM_NOW = `
  > GET /events?lastEventId=now
  < 200
  < link: <{base}/events?lastEventId={position}&limit=…>; rel="next"
  < []
`;

const REX = adds("rex", '{"name":"Rex","categoryId":{category},"status":"sold"}');
const MAX = adds("max", '{"name":"Max","categoryId":{category}}');

/** Four animals, which change in all ways. Then the second one is removed. */
const FOUR = `
  ${FROM_NOW}
  > POST /pets/batch
  > {"operations":[
  > {"action":"add","body":{"name":"Rex","categoryId":{category},"status":"available"}},
  > {"action":"add","body":{"name":"Rex","categoryId":{category},"status":"sold"}},
  > {"action":"add","body":{"name":"Rex","categoryId":{category},"status":"pending"}},
  > {"action":"add","body":{"name":"Rex","categoryId":{category}}}
  > ]}
  < 200
  < {"results":[{"body":{"id":{a},…},…},{"body":{"id":{b},…},…},{"body":{"id":{c},…},…},{"body":{"id":{d},…},…}]}
  > POST /pets/batch
  > {"operations":[
  > {"action":"change","petId":{a},"body":{"status":"pending"}},
  > {"action":"change","petId":{b},"body":{"name":"Max"}},
  > {"action":"change","petId":{c},"body":{"status":null}},
  > {"action":"change","petId":{d},"body":{"status":"sold","categoryId":{otherCategory}}}
  > ]}
  < 200
  > DELETE /pets/{b}
  < 204
`;

/** A filter, and the events of {@linkcode FOUR} that it selects. */
const FILTERS: [what: string, query: string, events: string[]][] = [
  ["by a type: additions", "type=PetCreated", ["Created a", "Created b", "Created c", "Created d"]],
  ["by a type: changes", "type=PetUpdated", ["Updated a", "Updated b", "Updated c", "Updated d"]],
  ["by a type: removals", "type=PetRemoved", ["Removed b"]],
  ["by a type: restores", "type=PetRestored", []],
  ["by a status that an animal leaves", "status=available", ["Created a", "Updated a"]],
  [
    "by a status that an animal enters or leaves",
    "status=pending",
    ["Created c", "Updated a", "Updated c"],
  ],
  [
    "by a status that an animal enters, keeps and is removed with",
    "status=sold",
    ["Created b", "Updated b", "Updated d", "Removed b"],
  ],
  ["by both", "status=sold&type=PetUpdated", ["Updated b", "Updated d"]],
];

const invalid = (message: string) => errorOf(400, "invalid_parameter", message);

/** The id of an event in another log. */
const OTHER_ID = "0000000000000001-aaaaaaaaaaaaaaaa";

const PARAMETERS = "lastEventId, since, limit, timeout, actors, type, status";
const NO_TIME = 'Query parameter "since" must be a time such as 2026-11-20T08:00:00Z';
const NO_ID = 'Query parameter "lastEventId" must be the id of an event, or now';

const REFUSED: [query: string, message: string][] = [
  ["cursor=1", `Query parameter "cursor" is not known: use ${PARAMETERS}`],
  [
    "offset=2",
    'Query parameter "offset" is not known: the address of the next page is in the Link header',
  ],
  ["limit=5&limit=5", 'Query parameter "limit" is repeated'],
  ...["0", "1001", "-1", "1.5", ""].map((limit): [string, string] => [
    `limit=${limit}`,
    'Query parameter "limit" must be an integer from 1 to 1000',
  ]),
  ...["-1", "30001", "1.5", ""].map((timeout): [string, string] => [
    `timeout=${timeout}`,
    'Query parameter "timeout" must be an integer from 0 to 30000',
  ]),
  ["type=ApiKeyIssued", `Query parameter "type" must be one of PetCreated, PetUpdated, …`],
  ["status=none", 'Query parameter "status" must be one of available, pending, sold…'],
  ["actors=false", 'Query parameter "actors" must be one of true'],
  ...["", "now", "2026-11-20", "2026-02-30T08:00:00Z", "2026-11-20T08:00:00"].map(
    (time): [string, string] => [`since=${time}`, NO_TIME],
  ),
  [
    "since=2026-11-20T08:00:00Z&lastEventId=now",
    'Query parameter "since" cannot be used with lastEventId',
  ],
  ...["", "secret", `${OTHER_ID}0`, "now-0", "now-1000000000"].map(
    (id): [string, string] => [`lastEventId=${id}`, NO_ID],
  ),
  ["limit=%FF", 'Query parameter "limit" is not valid UTF-8'],
  ["na%EBme", 'Query parameter "na\ufffdme" is not valid UTF-8'],
];

const RESET = errorOf(
  410,
  "feed_reset",
  `The event ${OTHER_ID} is not in this log: follow from lastEventId=now and then read all ` +
    "lists again, or read all events without lastEventId",
);

const ALONE = ["a store that nobody else changes"] as const;

const ofRex = (type: "Created" | "Updated" | "Removed" | "Restored", data: string, actor = "") =>
  eventOf(`Pet${type}`, "pets/{rex}", `{"id":{rex},"categoryId":{category},${data}}`, actor);

const POSITIONS: Story[] = [
  {
    clause: "without a position, a batch begins with the first event",
    needs: ["an empty store"],
    told: `
      ${REX}
      ${MAX}
      > GET /events
      < 200
      < [{"subject":"pets/{rex}",…},{"subject":"pets/{max}",…}]
    `,
  },
  {
    clause: "the Link header of each batch continues after it: no event is missing or repeated",
    needs: ALONE,
    told: `
      ${FROM_NOW}
      ${REX}
      ${MAX}
      > GET /events?lastEventId={position}&limit=1
      < 200
      < link: <{base}/events?{second}>; rel="next"
      < [{"subject":"pets/{rex}",…}]
      > GET /events?{second}
      < 200
      < link: <{base}/events?{third}>; rel="next"
      < [{"subject":"pets/{max}",…}]
      > GET /events?{third}
      < 200
      < link: <{base}/events?{third}>; rel="next"
      < []
    `,
  },
  {
    clause: "the Link header keeps the limit, the filters and the actors",
    told: `
      > GET /events?lastEventId=now&limit=7&actors=true&type=PetUpdated&status=sold
      < 200
      < link: <{base}/events?lastEventId={position}&limit=7&timeout=0&actors=true&type=PetUpdated&status=sold>; rel="next"
    `,
  },
  {
    clause: "lastEventId is the id of an event: what follows are the events after it",
    needs: ALONE,
    told: `
      ${FROM_NOW}
      ${REX}
      ${MAX}
      > GET /events?lastEventId={position}
      < 200
      < [{"id":"{first}",…},{"id":"{last}",…}]
      > GET /events?lastEventId={first}
      < 200
      < link: <{base}/events?lastEventId={last}&limit=…>; rel="next"
      < [{"id":"{last}",…}]
    `,
  },
  {
    clause: "the header Last-Event-ID comes before lastEventId and since",
    needs: ALONE,
    told: `
      ${FROM_NOW}
      ${REX}
      > GET /events?lastEventId=now
      > last-event-id: {position}
      < 200
      < [{"subject":"pets/{rex}",…}]
      > GET /events?since=2100-01-01T00:00:00Z
      > last-event-id: {position}
      < 200
      < [{"subject":"pets/{rex}",…}]
    `,
  },
  {
    clause: "an empty Last-Event-ID, as a client sends it without one, says nothing",
    needs: ALONE,
    told: `
      ${FROM_NOW}
      ${REX}
      > GET /events?lastEventId={position}
      > last-event-id:
      < 200
      < [{"subject":"pets/{rex}",…}]
    `,
  },
  {
    clause: "lastEventId=now-1 begins one event before the end, and now-2 two",
    needs: ALONE,
    told: `
      ${REX}
      ${MAX}
      > GET /events?lastEventId=now-1
      < 200
      < [{"subject":"pets/{max}",…}]
      > GET /events?lastEventId=now-2
      < 200
      < [{"subject":"pets/{rex}",…},{"subject":"pets/{max}",…}]
    `,
  },
  {
    clause: "lastEventId=now-999 begins with the first event if there are fewer",
    needs: ["an empty store"],
    told: `
      > GET /events?lastEventId=now-999
      < 200
      < []
      ${REX}
      > GET /events?lastEventId=now-999
      < 200
      < [{"subject":"pets/{rex}",…}]
    `,
  },
  {
    clause: "since begins with the events of a time",
    needs: ALONE,
    told: `
      ${REX}
      > GET /events?lastEventId=now-1
      < 200
      < [{"id":"{id}","time":"{time}",…}]
      > GET /events?since={time}
      < 200
      < [… ,{"id":"{id}",…}]
    `,
  },
  ...["2100-01-01T00:00:00Z", "2100-01-01T00:00:00%2B01:00", "2100-01-01t00:00:00.5+01:00"].map(
    (time): Story => ({
      clause: `since is a time of RFC 3339, with any offset: ${time}`,
      told: `
      > GET /events?since=${time}
      < 200
      < []
    `,
    }),
  ),
  ...[
    ["alone", `?lastEventId=${OTHER_ID}`, ""],
    ["with a timeout", `?lastEventId=${OTHER_ID}&timeout=1000`, ""],
    ["of a stream", "", `> last-event-id: ${OTHER_ID}\n> accept: text/event-stream`],
  ].map(([what, query, headers]): Story => ({
    clause: `the id of an event of another log gets 410 feed_reset: ${what}`,
    told: `
      > GET /events${query}
      ${headers}
      < 410
      < ${RESET}
    `,
  })),
];

export const FEED: Section = {
  title: "4.5 The feed",
  contract: [],
  beyond: [
    {
      clause: "each addition, change, removal and restore is an event, oldest first",
      needs: ALONE,
      told: `
        ${FROM_NOW}
        > POST /pets
        > idempotency-key: {once}
        > {"name":"Rex","categoryId":{category},"status":"sold"}
        < 201
        < {"id":{rex},…}
        > PATCH /pets/{rex}
        > {"name":"Mia","status":null}
        < 200
        > DELETE /pets/{rex}
        < 204
        > POST /pets/{rex}/restore
        < 200
        > GET /events?lastEventId={position}
        < 200
        < content-type: application/cloudevents-batch+json
        < [
        < ${ofRex("Created", '"name":"Rex","status":"sold"')},
        < ${ofRex("Updated", '"name":"Mia","previous":{"name":"Rex","status":"sold"}')},
        < ${ofRex("Removed", '"name":"Mia"')},
        < ${ofRex("Restored", '"name":"Mia"')}
        < ]
      `,
    },
    {
      clause: "a change that sets a status says that there was none",
      needs: ALONE,
      told: `
        ${MAX}
        > PATCH /pets/{max}
        > {"status":"sold"}
        < 200
        > GET /events?lastEventId=now-1
        < 200
        < [{"type":"PetUpdated","data":{"id":{max},"name":"Max","categoryId":{category},"status":"sold","previous":{"status":null}},…}]
      `,
    },
    {
      clause: "a change that changes nothing is no event",
      needs: ALONE,
      told: `
        ${REX}
        ${FROM_NOW}
        > PATCH /pets/{rex}
        > {"status":"sold"}
        < 200
        > GET /events?lastEventId={position}
        < 200
        < []
      `,
    },
    {
      clause: "with actors=true, each event has the key that caused it",
      needs: ALONE,
      told: `
        ${WHO}
        ${REX}
        > GET /events?actors=true&lastEventId=now-1
        < 200
        < [${ofRex("Created", '"name":"Rex","status":"sold"', BY_KEY)}]
      `,
    },
    {
      clause: "with actors=true, a key that may only read gets no labels",
      needs: [...ALONE, "a read-only key"],
      told: `
        ${WHO}
        ${REX}
        > GET /events?actors=true&lastEventId=now-1
        > authorization: Bearer {readOnlyKey}
        < 200
        < [${ofRex("Created", '"name":"Rex","status":"sold"', BY_ID)}]
      `,
    },
    ...POSITIONS,
    ...FILTERS.map(([what, query, events]): Story => ({
      clause: `a batch is filtered ${what}`,
      needs: ALONE,
      told: `
        ${FOUR}
        > GET /events?lastEventId={position}&${query}
        < 200
        < [${
        events.map((event) => {
          const [type, id] = event.split(" ");
          return `{"type":"Pet${type}","subject":"pets/{${id}}",…}`;
        })
      }]
      `,
    })),
    {
      clause: "the Link header of a filtered batch passes the events that do not match",
      needs: ALONE,
      told: `
        ${FROM_NOW}
        ${REX}
        > GET /events?lastEventId={position}&type=PetRemoved
        < 200
        < link: <{base}/events?lastEventId={end}&limit=…>; rel="next"
        < []
        > GET /events?lastEventId=now-1
        < 200
        < [{"id":"{end}",…}]
      `,
    },
    {
      clause: "a batch without a timeout comes at once, also if it is empty",
      told: `
        > GET /events?lastEventId=now&timeout=0
        < 200
        < content-type: application/cloudevents-batch+json
      `,
    },
    {
      clause: "after its timeout, a batch without an event is empty",
      needs: ALONE,
      told: `
        > GET /events?lastEventId=now&timeout=100
        < 200
        < link: <{base}/events?lastEventId={position}&limit=100&timeout=100>; rel="next"
        < []
      `,
    },
    {
      clause: "a batch has at most 100 events without a limit",
      needs: ALONE,
      told: `
        ${FROM_NOW}
        ${REX}
        > POST /pets/batch
        > {"operations":[${
        Array.from(
          { length: 100 },
          (_, index) => `{"action":"change","petId":{rex},"body":{"name":"Rex ${index}"}}`,
        )
      }]}
        < 200
        > GET /events?lastEventId={position}
        < 200
        < [${Array(100).fill("{…}")}]
        > GET /events?lastEventId={position}&limit=1000
        < 200
        < [${Array(101).fill("{…}")}]
      `,
    },
    {
      clause: "no batch is to be stored, and none has an ETag",
      told: `
        > GET /events?lastEventId=now
        < 200
        < cache-control: no-store
        < etag: (none)
        < vary: …accept, accept-encoding…
      `,
    },
    ...REFUSED.map(([query, message]): Story => ({
      clause: `events with ${query} get 400`,
      told: `
        > GET /events?${query}
        < 400
        < ${invalid(message)}
      `,
    })),
    ...["now", "secret", `${OTHER_ID}0`].map((id): Story => ({
      clause: `events with Last-Event-ID: ${id} get 400`,
      told: `
        > GET /events
        > last-event-id: ${id}
        < 400
        < ${
        errorOf(400, "malformed_request", "The Last-Event-ID header must be the id of an event")
      }
      `,
    })),
  ],
};
