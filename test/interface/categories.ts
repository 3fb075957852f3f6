import { BY_ID, BY_KEY, eventOf, WHO } from "./event_of.ts";
import { NO_IDS } from "./no_ids.ts";
import { errorOf, type Section, type Story } from "./story.ts";

/** A category that has the name {word}. */
const NAMED = `
  > PUT /categories/{category}
  > {"name":"{word}"}
  < 201
`;

const UNNAMED = errorOf(
  404,
  "category_not_found",
  "A category with this identifier has no name",
);
const NO_CATEGORY_ID = errorOf(
  404,
  "category_not_found",
  "The identifier of a category is an int64 without leading zeros, such as 7",
);
const TAKEN = errorOf(
  409,
  "category_name_taken",
  "Category {category} has this name, without regard to case",
);
const REUSED = errorOf(
  409,
  "idempotency_key_reused",
  "The Idempotency-Key was sent with another request before; nothing was stored",
);
const failed = (message: string) => errorOf(412, "precondition_failed", message);
const CHANGED = failed("The category has changed since you read it: read it again");
const HAS_NO_NAME = failed("The category has no name, so it has no ETag");
const HAS_A_NAME = failed("The category has a name already: read it first");

const INT64S = [
  "-9223372036854775808",
  "-1",
  "0",
  "7",
  "9007199254740993",
  "9223372036854775807",
];

/** Names that are the same as "Straße", although they are written in another way. */
const SAME_NAMES: [what: string, name: string][] = [
  ["the same text", "Straße"],
  ["capitals", "STRASSE"],
  ["another capital", "straẞe"],
  ["wide letters", "ＳＴＲＡＳＳＥ"],
  ["characters that nobody sees", String.raw`\u2066Stra\u00adße\u200b`],
];

const OTHER_NAMES: [what: string, name: string][] = [
  ["another ending", "Strassen"],
  ["an accent", "Strassé"],
  ["a separator", "Stras-se"],
];

const LENGTH = 'Field "name" must be 1 to 100 characters long';
const BLANK = 'Field "name" must not consist of blanks only';

const REFUSED_NAMES: [what: string, body: string, message: string][] = [
  ["without a character", '{"name":""}', `${LENGTH}; ${BLANK}`],
  ["of one blank", '{"name":" "}', BLANK],
  ["of several blanks", String.raw`{"name":"\t\u2003\n"}`, BLANK],
  ["of 101 letters", `{"name":"${"a".repeat(101)}"}`, LENGTH],
  ["of 101 characters beyond the first plane", `{"name":"${"🐈".repeat(101)}"}`, LENGTH],
  [
    "with half a character",
    String.raw`{"name":"\ud800"}`,
    'Field "name" must be well-formed Unicode, without a lone surrogate',
  ],
  ["that is a number", '{"name":7}', 'Field "name" must be a string'],
  ["that is null", '{"name":null}', 'Field "name" must be a string'],
  ["that is missing", "{}", 'Field "name" is missing'],
  ["with an id", '{"name":"Dogs","id":7}', 'Field "id" is not known; the fields are name'],
];

const WRITES: Story[] = [
  {
    clause: "a category that gets its first name gets 201, with its address and an ETag",
    told: `
      > PUT /categories/{category}
      > {"name":"{word}"}
      < 201
      < content-type: application/json
      < location: {base}/categories/{category}
      < cache-control: no-store
      < etag: "{tag}"
      < {"id":{category},"name":"{word}"}
      > GET /categories/{category}
      < 200
      < content-type: application/json
      < etag: "{tag}"
      < {"id":{category},"name":"{word}"}
    `,
  },
  ...INT64S.map((id): Story => ({
    clause: `the id of a category is an int64, exact in both directions: ${id}`,
    needs: ["an empty store"],
    told: `
      > PUT /categories/${id}
      > {"name":"{word}"}
      < 201
      < location: {base}/categories/${id}
      < {"id":${id},"name":"{word}"}
      > GET /categories/${id}
      < 200
      < {"id":${id},"name":"{word}"}
      > GET /categories
      < 200
      < [{"id":${id},"name":"{word}"}]
    `,
  })),
  {
    clause: "another name for a category gets 200, and so does the same name",
    told: `
      ${NAMED}
      > PUT /categories/{category}
      > {"name":"{word} 2"}
      < 200
      < {"id":{category},"name":"{word} 2"}
      > PUT /categories/{category}
      > {"name":"{word} 2"}
      < 200
      < {"id":{category},"name":"{word} 2"}
      > GET /categories/{category}
      < 200
      < {"id":{category},"name":"{word} 2"}
    `,
  },
  {
    clause: "a name that is removed gets 204, and is in no read",
    told: `
      ${NAMED}
      > DELETE /categories/{category}
      < 204
      < cache-control: no-store
      < etag: (none)
      < (none)
      > GET /categories/{category}
      < 404
      < ${UNNAMED}
      > GET /categories/{category}/events
      < 404
      < ${UNNAMED}
    `,
  },
  {
    clause: "a category whose name was removed can be named again",
    told: `
      ${NAMED}
      > DELETE /categories/{category}
      < 204
      > PUT /categories/{category}
      > {"name":"{word}"}
      < 201
      < {"id":{category},"name":"{word}"}
      > GET /categories/{category}
      < 200
      < {"id":{category},"name":"{word}"}
    `,
  },
  {
    clause: "the removal of a name that a category does not have gets 404",
    told: `
      > DELETE /categories/{category}
      < 404
      < ${UNNAMED}
      > DELETE /categories/{category}
      > if-match: *
      < 404
      < ${UNNAMED}
      > DELETE /categories/{category}
      > if-none-match: *
      < 404
      < ${UNNAMED}
    `,
  },
  {
    clause: "the name of a category changes no animal",
    told: `
      > POST /pets
      > {"name":"Rex","categoryId":{category}}
      < 201
      < etag: "{tag}"
      < {"id":{rex},…}
      ${NAMED}
      > DELETE /categories/{category}
      < 204
      > GET /pets/{rex}
      < 200
      < etag: "{tag}"
      < {"id":{rex},"name":"Rex","categoryId":{category}}
    `,
  },
];

const READS: Story[] = [
  {
    clause: "a category that has a name is in the list",
    told: `
      ${NAMED}
      > GET /categories
      < 200
      < content-type: application/json
      < [… ,{"id":{category},"name":"{word}"},…]
    `,
  },
  {
    clause: "the list has all categories that have a name, by their ids",
    needs: ["an empty store"],
    told: `
      ${NAMED}
      > PUT /categories/{otherCategory}
      > {"name":"{word} 2"}
      < 201
      > PUT /categories/7
      > {"name":"{word} 3"}
      < 201
      > GET /categories
      < 200
      < [{"id":{otherCategory},"name":"{word} 2"},{"id":7,"name":"{word} 3"},{"id":{category},"name":"{word}"}]
      > DELETE /categories/7
      < 204
      > GET /categories
      < 200
      < [{"id":{otherCategory},"name":"{word} 2"},{"id":{category},"name":"{word}"}]
    `,
  },
  {
    clause: "the events after X-Feed-Position of the list continue it",
    needs: ["a store that nobody else changes"],
    told: `
      > GET /categories
      < 200
      < x-feed-position: {position}
      ${NAMED}
      > GET /events?lastEventId={position}
      < 200
      < [{"type":"CategoryNamed","subject":"categories/{category}",…}]
    `,
  },
  {
    clause: "a category without a name gets 404",
    told: `
      > GET /categories/{category}
      < 404
      < ${UNNAMED}
      > GET /categories/{category}/events
      < 404
      < ${UNNAMED}
    `,
  },
  ...[...NO_IDS, "9223372036854775808", "-9223372036854775809"].map((id): Story => ({
    clause: `what is not the identifier of a category gets 404: ${id}`,
    told: `
      > GET /categories/${id}
      < 404
      < ${NO_CATEGORY_ID}
      > GET /categories/${id}/events
      < 404
      < ${NO_CATEGORY_ID}
      > PUT /categories/${id}
      > {"name":"{word}"}
      < 404
      < ${NO_CATEGORY_ID}
      > DELETE /categories/${id}
      < 404
      < ${NO_CATEGORY_ID}
    `,
  })),
];

const NAMES: Story[] = [
  ...["a", "🐈".repeat(100)].map((name): Story => ({
    clause: `a name has 1 to 100 characters: ${[...name].length}`,
    needs: ["an empty store"],
    told: `
      > PUT /categories/{category}
      > {"name":"${name}"}
      < 201
      < {"id":{category},"name":"${name}"}
      > GET /categories/{category}
      < 200
      < {"id":{category},"name":"${name}"}
    `,
  })),
  {
    clause: "a name keeps each character, also blanks at its ends",
    told: String.raw`
      > PUT /categories/{category}
      > {"name":" {word}\"\\\n\u2028 "}
      < 201
      < {"id":{category},"name":" {word}\"\\\n\u2028 "}
      > GET /categories/{category}
      < 200
      < {"id":{category},"name":" {word}\"\\\n\u2028 "}
    `,
  },
  ...REFUSED_NAMES.map(([what, body, message]): Story => ({
    clause: `a name ${what} gets 400`,
    told: `
      > PUT /categories/{category}
      > ${body}
      < 400
      < ${errorOf(400, "invalid_body", message)}
      > GET /categories/{category}
      < 404
    `,
  })),
  ...SAME_NAMES.map(([what, name]): Story => ({
    clause: `no two categories have the same name: with ${what}, the second gets 409`,
    told: `
      > PUT /categories/{category}
      > {"name":"{word} Straße"}
      < 201
      > PUT /categories/{otherCategory}
      > {"name":"{word} ${name}"}
      < 409
      < ${TAKEN}
      > GET /categories/{otherCategory}
      < 404
    `,
  })),
  ...SAME_NAMES.map(([what, name]): Story => ({
    clause: `no two categories have the same name: after one with ${what}, the second gets 409`,
    told: `
      > PUT /categories/{category}
      > {"name":"{word} ${name}"}
      < 201
      > PUT /categories/{otherCategory}
      > {"name":"{word} Straße"}
      < 409
      < ${TAKEN}
    `,
  })),
  ...OTHER_NAMES.map(([what, name]): Story => ({
    clause: `names are compared whole: one with ${what} is another one`,
    told: `
      > PUT /categories/{category}
      > {"name":"{word} Strasse"}
      < 201
      > PUT /categories/{otherCategory}
      > {"name":"{word} ${name}"}
      < 201
      < {"id":{otherCategory},"name":"{word} ${name}"}
    `,
  })),
  {
    clause: "a category that has a name cannot get that of another one",
    told: `
      ${NAMED}
      > PUT /categories/{otherCategory}
      > {"name":"{word} 2"}
      < 201
      > PUT /categories/{otherCategory}
      > {"name":"{word}"}
      < 409
      < ${TAKEN}
      > GET /categories/{otherCategory}
      < 200
      < {"id":{otherCategory},"name":"{word} 2"}
    `,
  },
  {
    clause: "a category may have its own name in another case",
    told: `
      > PUT /categories/{category}
      > {"name":"{word} Straße"}
      < 201
      > PUT /categories/{category}
      > {"name":"{word} STRASSE"}
      < 200
      < {"id":{category},"name":"{word} STRASSE"}
    `,
  },
  {
    clause: "a name that a category has left is free",
    told: `
      ${NAMED}
      > PUT /categories/{category}
      > {"name":"{word} 2"}
      < 200
      > PUT /categories/{otherCategory}
      > {"name":"{word}"}
      < 201
    `,
  },
  {
    clause: "a name that was removed is free",
    told: `
      ${NAMED}
      > DELETE /categories/{category}
      < 204
      > PUT /categories/{otherCategory}
      > {"name":"{word}"}
      < 201
    `,
  },
];

const CONDITIONS: Story[] = [
  ...["*", '"a"'].map((tags): Story => ({
    clause: `with If-Match: ${tags}, a category without a name is not named`,
    told: `
      > PUT /categories/{category}
      > if-match: ${tags}
      > {"name":"{word}"}
      < 412
      < ${HAS_NO_NAME}
      > GET /categories/{category}
      < 404
    `,
  })),
  {
    clause: "whether a category is the expected one comes before whether its name is free",
    told: `
      ${NAMED}
      > PUT /categories/{otherCategory}
      > if-match: "a"
      > {"name":"{word}"}
      < 412
      < ${HAS_NO_NAME}
    `,
  },
  {
    clause: "with If-Match, a category that has its ETag still gets another name",
    told: `
      > PUT /categories/{category}
      > {"name":"{word}"}
      < 201
      < etag: "{tag}"
      > PUT /categories/{category}
      > if-match: W/"{tag}"
      > {"name":"{word} 2"}
      < 200
      < {"id":{category},"name":"{word} 2"}
    `,
  },
  {
    clause: "with If-Match, a category that has changed keeps its name",
    told: `
      > PUT /categories/{category}
      > {"name":"{word}"}
      < 201
      < etag: "{tag}"
      > PUT /categories/{category}
      > {"name":"{word} 2"}
      < 200
      > PUT /categories/{category}
      > if-match: "{tag}"
      > {"name":"{word} 2"}
      < 412
      < ${CHANGED}
      > DELETE /categories/{category}
      > if-match: "{tag}"
      < 412
      < ${CHANGED}
      > GET /categories/{category}
      < 200
      < {"id":{category},"name":"{word} 2"}
    `,
  },
  {
    clause: "with If-Match, the name of a category that has its ETag still is removed",
    told: `
      > PUT /categories/{category}
      > {"name":"{word}"}
      < 201
      < etag: "{tag}"
      > DELETE /categories/{category}
      > if-match: "{tag}"
      < 204
    `,
  },
  {
    clause: "with If-None-Match: *, a category is named only if it has no name",
    told: `
      > PUT /categories/{category}
      > if-none-match: *
      > {"name":"{word}"}
      < 201
      > PUT /categories/{category}
      > if-none-match: *
      > {"name":"{word} 2"}
      < 412
      < ${HAS_A_NAME}
      > PUT /categories/{category}
      > if-none-match: *
      > {"name":"{word}"}
      < 412
      < ${HAS_A_NAME}
      > DELETE /categories/{category}
      > if-none-match: *
      < 412
      < ${HAS_A_NAME}
      > GET /categories/{category}
      < 200
      < {"id":{category},"name":"{word}"}
    `,
  },
  {
    clause: "with If-None-Match: *, a category whose name was removed is named",
    told: `
      ${NAMED}
      > DELETE /categories/{category}
      < 204
      > PUT /categories/{category}
      > if-none-match: *
      > {"name":"{word} 2"}
      < 201
      < {"id":{category},"name":"{word} 2"}
    `,
  },
  ...['"{tag}"', '"a", W/"{tag}"'].map((tags): Story => ({
    clause: `with If-None-Match: ${tags}, a category that has this ETag keeps its name`,
    told: `
      > PUT /categories/{category}
      > {"name":"{word}"}
      < 201
      < etag: "{tag}"
      > PUT /categories/{category}
      > if-none-match: ${tags}
      > {"name":"{word} 2"}
      < 412
      < ${HAS_A_NAME}
      > DELETE /categories/{category}
      > if-none-match: ${tags}
      < 412
      < ${HAS_A_NAME}
      > GET /categories/{category}
      < 200
      < {"id":{category},"name":"{word}"}
    `,
  })),
  {
    clause: "with If-None-Match, a category that has another ETag is renamed and removed",
    told: `
      > PUT /categories/{category}
      > {"name":"{word}"}
      < 201
      < etag: "{tag}"
      > PUT /categories/{category}
      > if-none-match: "a"
      > {"name":"{word} 2"}
      < 200
      > DELETE /categories/{category}
      > if-none-match: "{tag}"
      < 204
    `,
  },
  {
    clause: "with If-Match and If-None-Match, both decide",
    told: `
      > PUT /categories/{category}
      > {"name":"{word}"}
      < 201
      < etag: "{tag}"
      > PUT /categories/{category}
      > if-match: "{tag}"
      > if-none-match: *
      > {"name":"{word} 2"}
      < 412
      < ${HAS_A_NAME}
    `,
  },
];

const RETRIES: Story[] = [
  {
    clause: "a name with an Idempotency-Key is given once, and a retry gets the first response",
    told: `
      > PUT /categories/{category}
      > idempotency-key: {once}
      > {"name":"{word}"}
      < 201
      < idempotency-replayed: (none)
      > PUT /categories/{category}
      > {"name":"{word} 2"}
      < 200
      > PUT /categories/{category}
      > idempotency-key: {once}
      > {"name":"{word}"}
      < 201
      < idempotency-replayed: true
      < {"id":{category},"name":"{word}"}
      > GET /categories/{category}
      < 200
      < {"id":{category},"name":"{word} 2"}
    `,
  },
  {
    clause: "the retry of a name with If-None-Match gets the first response, too",
    told: `
      > PUT /categories/{category}
      > idempotency-key: {once}
      > if-none-match: *
      > {"name":"{word}"}
      < 201
      < idempotency-replayed: (none)
      < {"id":{category},"name":"{word}"}
      > PUT /categories/{category}
      > idempotency-key: {once}
      > if-none-match: *
      > {"name":"{word}"}
      < 201
      < idempotency-replayed: true
      < {"id":{category},"name":"{word}"}
    `,
  },
  {
    clause: "the retry of a removal gets the first response",
    told: `
      ${NAMED}
      > DELETE /categories/{category}
      > idempotency-key: {once}
      < 204
      < idempotency-replayed: (none)
      > DELETE /categories/{category}
      > idempotency-key: {once}
      < 204
      < idempotency-replayed: true
      > PUT /categories/{category}
      > idempotency-key: {once}
      > {"name":"{word}"}
      < 409
      < ${REUSED}
    `,
  },
  {
    clause: "an Idempotency-Key is for one request only, also of an animal",
    told: `
      > PUT /categories/{category}
      > idempotency-key: {once}
      > {"name":"{word}"}
      < 201
      > PUT /categories/{category}
      > idempotency-key: {once}
      > {"name":"{word} 2"}
      < 409
      < ${REUSED}
      > PUT /categories/{otherCategory}
      > idempotency-key: {once}
      > {"name":"{word}"}
      < 409
      < ${REUSED}
      > DELETE /categories/{category}
      > idempotency-key: {once}
      < 409
      < ${REUSED}
      > POST /pets
      > idempotency-key: {once}
      > {"name":"{word}","categoryId":{category}}
      < 409
      < ${REUSED}
    `,
  },
  {
    clause: "the Idempotency-Key of a name that changes nothing is not remembered",
    told: `
      ${NAMED}
      > PUT /categories/{category}
      > idempotency-key: {once}
      > {"name":"{word}"}
      < 200
      > PUT /categories/{category}
      > {"name":"{word} 2"}
      < 200
      > PUT /categories/{category}
      > idempotency-key: {once}
      > {"name":"{word}"}
      < 200
      < idempotency-replayed: (none)
      < {"id":{category},"name":"{word}"}
    `,
  },
];

const ofCategory = (type: "Named" | "Removed", data: string) =>
  eventOf(`Category${type}`, "categories/{category}", `{"id":{category},${data}}`, BY_KEY);

const HISTORY: Story[] = [
  {
    clause: "the history of a category says who gave and took its names, newest first",
    told: `
      ${WHO}
      ${NAMED}
      > PUT /categories/{category}
      > {"name":"{word} 2"}
      < 200
      > DELETE /categories/{category}
      < 204
      > PUT /categories/{category}
      > {"name":"{word} 3"}
      < 201
      > GET /categories/{category}/events
      < 200
      < content-type: application/cloudevents-batch+json
      < link: (none)
      < [
      < ${ofCategory("Named", '"name":"{word} 3"')},
      < ${ofCategory("Removed", '"name":"{word} 2"')},
      < ${ofCategory("Named", '"name":"{word} 2","previous":{"name":"{word}"}')},
      < ${ofCategory("Named", '"name":"{word}"')}
      < ]
    `,
  },
  {
    clause: "an event of a history is that of the feed",
    needs: ["a store that nobody else changes"],
    told: `
      ${NAMED}
      > GET /categories/{category}/events
      < 200
      < [{"id":"{id}","time":"{time}","sequence":"{sequence}",…}]
      > GET /events?lastEventId=now-1
      < 200
      < [{"id":"{id}","time":"{time}","sequence":"{sequence}",…}]
    `,
  },
  {
    clause: "a key that may only read gets the history of a category without labels of keys",
    needs: ["a read-only key"],
    told: `
      ${WHO}
      ${NAMED}
      > GET /categories/{category}/events
      > authorization: Bearer {readOnlyKey}
      < 200
      < [${
      eventOf(
        "CategoryNamed",
        "categories/{category}",
        '{"id":{category},"name":"{word}"}',
        BY_ID,
      )
    }]
    `,
  },
  {
    clause: "the pages of a history of a category join",
    told: `
      ${NAMED}
      > PUT /categories/{category}
      > {"name":"{word} 2"}
      < 200
      > GET /categories/{category}/events?limit=1
      < 200
      < link: <{base}/categories/{category}/events?{earlier}>; rel="next"
      < [{"data":{"id":{category},"name":"{word} 2",…},…}]
      > GET /categories/{category}/events?{earlier}
      < 200
      < link: (none)
      < [{"data":{"id":{category},"name":"{word}"},…}]
    `,
  },
  ...[0, 101].map((limit): Story => ({
    clause: `a history of a category with limit=${limit} gets 400`,
    told: `
      ${NAMED}
      > GET /categories/{category}/events?limit=${limit}
      < 400
      < ${
      errorOf(
        400,
        "invalid_parameter",
        'Query parameter "limit" must be an integer from 1 to 100',
      )
    }
    `,
  })),
  {
    clause: "the cursor of another category gets 400",
    told: `
      ${NAMED}
      > PUT /categories/{category}
      > {"name":"{word} 2"}
      < 200
      > GET /categories/{category}/events?limit=1
      < 200
      < link: <{base}/categories/{category}/events?{earlier}>; rel="next"
      > PUT /categories/{otherCategory}
      > {"name":"{word} 3"}
      < 201
      > GET /categories/{otherCategory}/events?{earlier}
      < 400
      < ${
      errorOf(
        400,
        "invalid_parameter",
        'Query parameter "cursor" must be taken from the Link header of another page',
      )
    }
    `,
  },
  {
    clause: "at most 1,000 categories have names",
    needs: ["an empty store", "an operator"],
    told: `
      ~ 1,000 categories get names
      > PUT /categories/{category}
      > {"name":"{word}"}
      < 409
      < ${
      errorOf(
        409,
        "too_many_categories",
        "At most 1,000 categories have names: remove one of them first",
      )
    }
      > PUT /categories/{category}
      > {"name":"category 7"}
      < 409
      < ${errorOf(409, "category_name_taken", "Category 7 has this name, without regard to case")}
      > PUT /categories/999
      > {"name":"{word}"}
      < 200
      > DELETE /categories/0
      < 204
      > PUT /categories/{category}
      > {"name":"{word} too"}
      < 201
    `,
  },
  {
    clause: "names of categories are in the feed, and can be selected by their type",
    needs: ["a store that nobody else changes"],
    told: `
      > GET /events?lastEventId=now
      < 200
      < link: <{base}/events?lastEventId={position}&limit=…>; rel="next"
      ${NAMED}
      > DELETE /categories/{category}
      < 204
      > GET /events?lastEventId={position}
      < 200
      < [{"type":"CategoryNamed",…},{"type":"CategoryRemoved","id":"{id}",…}]
      > GET /events?type=CategoryRemoved&lastEventId={position}
      < 200
      < [{"type":"CategoryRemoved","id":"{id}","subject":"categories/{category}","data":{"id":{category},"name":"{word}"},…}]
    `,
  },
];

export const CATEGORIES: Section = {
  title: "4.9 to 4.13 Categories",
  contract: [],
  beyond: [...WRITES, ...READS, ...NAMES, ...CONDITIONS, ...RETRIES, ...HISTORY],
};
