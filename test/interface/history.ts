import { BY_ID, BY_KEY, eventOf, WHO } from "./event_of.ts";
import { NO_ID_OF_ANIMAL, NO_IDS } from "./no_ids.ts";
import { errorOf, type Section, type Story } from "./story.ts";
import { adds, GONE } from "./told.ts";

/** An animal that is there. */
const REX = adds("rex", '{"name":"Rex","categoryId":{category},"status":"sold"}');
const MAX = adds("max", '{"name":"Max","categoryId":{category}}');

/** Gives the animal another name. */
const renamed = (name: string) => `
  > PATCH /pets/{rex}
  > {"name":"${name}"}
  < 200
`;

/** A hundred changes of the animal. */
const HUNDRED_CHANGES = `
  > POST /pets/batch
  > {"operations":[${
  Array.from(
    { length: 100 },
    (_, index) => `{"action":"change","petId":{rex},"body":{"name":"Rex ${index}"}}`,
  ).join()
}]}
  < 200
`;

const invalid = (message: string) => errorOf(400, "invalid_parameter", message);
const NO_CURSOR = invalid(
  'Query parameter "cursor" must be taken from the Link header of another page',
);
const NO_LIMIT = invalid('Query parameter "limit" must be an integer from 1 to 100');

const ofRex = (type: "Created" | "Updated" | "Removed" | "Restored", data: string) =>
  eventOf(`Pet${type}`, "pets/{rex}", `{"id":{rex},"categoryId":{category},${data}}`, BY_KEY);

/** Cursors that no page of this animal has, made of one that has. */
const CURSORS: [what: string, cursor: string][] = [
  ["that is empty", ""],
  ["that is a number", "1"],
  ["that is a word", "secret"],
  ["with another digit", "{position}-{hash}0"],
  ["that is repeated", "{position}-{hash},{position}-{hash}"],
  ["with another hash", "{position}-0000000000000000"],
  ["in capitals", "{position}-ABCDEFABCDEFABCD"],
  ["at the first position", "0000000000000001-{hash}"],
  ["before the first position", "0000000000000000-{hash}"],
  ["after the last position", "9999999999999999-{hash}"],
];

const PAGES: Story[] = [
  {
    clause: "the Link header has the page with earlier events, and the last page has none",
    told: `
      ${REX}
      ${renamed("Mia")}
      > GET /pets/{rex}/events?limit=1
      < 200
      < link: <{base}/pets/{rex}/events?{earlier}>; rel="next"
      < [{"type":"PetUpdated",…}]
      > GET /pets/{rex}/events?{earlier}
      < 200
      < link: (none)
      < [{"type":"PetCreated",…}]
    `,
  },
  {
    clause: "the pages of a history join, although the animal changes between them",
    told: `
      ${REX}
      ${renamed("Mia")}
      ${renamed("Max")}
      > GET /pets/{rex}/events?limit=1
      < 200
      < link: <{base}/pets/{rex}/events?{second}>; rel="next"
      < [{"data":{"name":"Max",…},…}]
      ${renamed("Bob")}
      > GET /pets/{rex}/events?{second}
      < 200
      < link: <{base}/pets/{rex}/events?{third}>; rel="next"
      < [{"data":{"name":"Mia",…},…}]
      > GET /pets/{rex}/events?{third}
      < 200
      < link: (none)
      < [{"data":{"name":"Rex",…},…}]
      > GET /pets/{rex}/events
      < 200
      < [{"data":{"name":"Bob",…},…},{"data":{"name":"Max",…},…},…]
    `,
  },
  ...[["", 20], ["?limit=100", 100]].map(([query, count]): Story => ({
    clause: `a page of a history ${query ? "has at most 100 events" : "has 20 without a limit"}`,
    told: `
      ${REX}
      ${HUNDRED_CHANGES}
      > GET /pets/{rex}/events${query}
      < 200
      < [${Array(count).fill('{"type":"PetUpdated",…}')}]
    `,
  })),
  ...[0, 101].map((limit): Story => ({
    clause: `a history with limit=${limit} gets 400`,
    told: `
      ${REX}
      > GET /pets/{rex}/events?limit=${limit}
      < 400
      < ${NO_LIMIT}
    `,
  })),
  ...CURSORS.map(([what, cursor]): Story => ({
    clause: `a cursor ${what} gets 400`,
    told: `
      ${REX}
      ${renamed("Mia")}
      > GET /pets/{rex}/events?limit=1
      < 200
      < link: <{base}/pets/{rex}/events?limit=1&cursor={position}-{hash}>; rel="next"
      > GET /pets/{rex}/events?cursor=${cursor}
      < 400
      < ${NO_CURSOR}
    `,
  })),
  {
    clause: "the cursor of another animal gets 400",
    told: `
      ${REX}
      ${renamed("Mia")}
      > GET /pets/{rex}/events?limit=1
      < 200
      < link: <{base}/pets/{rex}/events?{earlier}>; rel="next"
      ${MAX}
      > GET /pets/{max}/events?{earlier}
      < 400
      < ${NO_CURSOR}
    `,
  },
];

export const HISTORY: Section = {
  title: "4.7 History of an animal",
  contract: [],
  beyond: [
    {
      clause: "the history has all that happened to an animal, newest first, with the key",
      told: `
        ${WHO}
        ${REX}
        > PATCH /pets/{rex}
        > {"name":"Mia","status":null}
        < 200
        > DELETE /pets/{rex}
        < 204
        > POST /pets/{rex}/restore
        < 200
        > GET /pets/{rex}/events
        < 200
        < content-type: application/cloudevents-batch+json
        < link: (none)
        < [
        < ${ofRex("Restored", '"name":"Mia"')},
        < ${ofRex("Removed", '"name":"Mia"')},
        < ${ofRex("Updated", '"name":"Mia","previous":{"name":"Rex","status":"sold"}')},
        < ${ofRex("Created", '"name":"Rex","status":"sold"')}
        < ]
      `,
    },
    {
      clause: "the history of an animal has no event of others",
      told: `
        ${REX}
        ${MAX}
        ${renamed("Mia")}
        > PATCH /pets/{max}
        > {"name":"Bob"}
        < 200
        > GET /pets/{rex}/events
        < 200
        < [{"type":"PetUpdated","subject":"pets/{rex}",…},{"type":"PetCreated","subject":"pets/{rex}",…}]
      `,
    },
    {
      clause: "the history of a removed animal begins with its removal",
      told: `
        ${WHO}
        ${REX}
        > DELETE /pets/{rex}
        < 204
        > GET /pets/{rex}/events
        < 200
        < [{"type":"PetRemoved","actor":"{keyId}",…},{"type":"PetCreated",…}]
      `,
    },
    {
      clause: "an event of a history is that of the feed",
      needs: ["a store that nobody else changes"],
      told: `
        ${REX}
        > GET /pets/{rex}/events
        < 200
        < [{"id":"{id}","time":"{time}","sequence":"{sequence}",…}]
        > GET /events?lastEventId=now-1
        < 200
        < [{"id":"{id}","time":"{time}","sequence":"{sequence}",…}]
      `,
    },
    {
      clause: "a key that may only read gets the id of the key of each event, without its label",
      needs: ["a read-only key"],
      told: `
        ${WHO}
        ${REX}
        > GET /pets/{rex}/events
        > authorization: Bearer {readOnlyKey}
        < 200
        < [${
        eventOf(
          "PetCreated",
          "pets/{rex}",
          '{"id":{rex},"name":"Rex","categoryId":{category},"status":"sold"}',
          BY_ID,
        )
      }]
      `,
    },
    ...PAGES,
    ...["-1", "9223372036854775807", "9223372036854775808"].map((id): Story => ({
      clause: `the history of an animal that never was gets 404: ${id}`,
      told: `
        > GET /pets/${id}/events
        < 404
        < ${GONE}
      `,
    })),
    {
      clause: "the history of what is no id gets 404",
      told: NO_IDS.map((id) => `
        > GET /pets/${id}/events
        < 404
        < ${NO_ID_OF_ANIMAL}
      `).join(""),
    },
  ],
};
