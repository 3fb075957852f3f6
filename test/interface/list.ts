import { ADDS_NINE, FIRST_EIGHT, NINTH } from "./long_animals.ts";
import type { Need, Section, Story } from "./story.ts";
import { adds, addsAll, type RefusedQueries, refusedQueries } from "./told.ts";

const PET = '{"id":…,"name":"…","categoryId":…,…}';

const REX = '{"name":"Rex","categoryId":{category}}';

const ADDS_REX = `
  > POST /pets
  > ${REX}
  < 201
`;

/** Adds five animals, the oldest first. */
const ADDS_FIVE = ["one", "two", "three", "four", "five"]
  .map((id) => adds(id, '{"name":"Rex","categoryId":{category},"status":"available"}'))
  .join("");

/** Some of them in a list. */
const five = (...ids: string[]) =>
  ids.map((id) => `{"id":{${id}},"name":"Rex","categoryId":{category},"status":"available"}`)
    .join(",");

/** Queries for these five and no other animal. */
const QUERIES_FOR_FIVE = [
  "categoryId={category}",
  "categoryId={category}&status=available",
  "categoryId={category}&name=rex",
  "categoryId={category}&q=rex",
];

const ORDER: Story[] = [
  {
    clause: "a list begins with the newest animal",
    told: `
      ${ADDS_FIVE}
      > GET /pets?categoryId={category}
      < 200
      < content-type: application/json
      < [${five("five", "four", "three", "two", "one")}]
    `,
  },
  {
    clause: "with order=asc, a list begins with the oldest animal",
    told: `
      ${ADDS_FIVE}
      > GET /pets?categoryId={category}&order=asc
      < 200
      < [${five("one", "two", "three", "four", "five")}]
    `,
  },
  {
    clause: "with order=desc, a list is as without an order",
    told: `
      ${ADDS_FIVE}
      > GET /pets?categoryId={category}&order=desc
      < 200
      < [${five("five", "four", "three", "two", "one")}]
    `,
  },
  {
    clause: "a list without a filter begins with the newest animal of all",
    needs: ["a store that nobody else changes"],
    told: `
      ${ADDS_FIVE}
      > GET /pets?limit=3
      < 200
      < [${five("five", "four", "three")}]
    `,
  },
];

/** A query, and what its story needs. */
type Query = [query: string, needs: Need[]];

const OF_CATEGORY: Query = ["categoryId={category}", []];
const OF_STORE: Query = ["removed=false", ["an empty store"]];
const AVAILABLE_OF_CATEGORY: Query = ["categoryId={category}&status=available", []];
const AVAILABLE_OF_STORE: Query = ["status=available", ["an empty store"]];
const NAMED_OF_CATEGORY: Query = ["categoryId={category}&name=rex", []];

const PAGES: Story[] = [
  {
    clause: "a page has 20 animals without a limit, and up to 100 with one",
    told: `
      ${addsAll(Array(100).fill(REX))}
      ${adds("last", REX)}
      > GET /pets?categoryId={category}
      < 200
      < [${Array(20).fill('{"id":…,"name":"Rex","categoryId":{category}}')}]
      > GET /pets?categoryId={category}&limit=1
      < 200
      < [{"id":{last},"name":"Rex","categoryId":{category}}]
      > GET /pets?categoryId={category}&limit=100
      < 200
      < link: <{base}/{second}>; rel="next"
      < [${Array(100).fill('{"id":…,"name":"Rex","categoryId":{category}}')}]
      > GET /{second}
      < 200
      < link: (none)
      < [{"id":…,"name":"Rex","categoryId":{category}}]
    `,
  },
  ...QUERIES_FOR_FIVE.map((query) => ({
    clause: `Link has the address of the next page, and the last page has none: ${query}`,
    told: `
      ${ADDS_FIVE}
      > GET /pets?${query}&limit=2
      < 200
      < link: <{base}/{second}>; rel="next"
      < [${five("five", "four")}]
      > GET /{second}
      < 200
      < link: <{base}/{third}>; rel="next"
      < [${five("three", "two")}]
      > GET /{third}
      < 200
      < link: (none)
      < [${five("one")}]
    `,
  })),
  ...QUERIES_FOR_FIVE.map((query) => ({
    clause: `the next page is in the order of the first one: ${query}&order=asc`,
    told: `
      ${ADDS_FIVE}
      > GET /pets?${query}&order=asc&limit=3
      < 200
      < link: <{base}/{second}>; rel="next"
      < [${five("one", "two", "three")}]
      > GET /{second}
      < 200
      < link: (none)
      < [${five("four", "five")}]
    `,
  })),
  {
    clause: "Link leads through all animals, too",
    needs: ["an empty store"],
    told: `
      ${ADDS_FIVE}
      > GET /pets?limit=3
      < 200
      < link: <{base}/{second}>; rel="next"
      < [${five("five", "four", "three")}]
      > GET /{second}
      < 200
      < link: (none)
      < [${five("two", "one")}]
    `,
  },
  {
    clause: "a page on which all animals fit is the last one",
    told: `
      ${ADDS_FIVE}
      > GET /pets?categoryId={category}&limit=5
      < 200
      < link: (none)
      < [${five("five", "four", "three", "two", "one")}]
    `,
  },
  ...[
    OF_CATEGORY,
    OF_STORE,
    AVAILABLE_OF_CATEGORY,
    AVAILABLE_OF_STORE,
    NAMED_OF_CATEGORY,
  ].map(([query, needs]) => ({
    clause:
      `paging shows each animal that stays exactly once, although others come and go: ${query}`,
    needs,
    told: `
      ${ADDS_FIVE}
      > GET /pets?${query}&limit=2
      < 200
      < link: <{base}/{second}>; rel="next"
      < [${five("five", "four")}]
      > POST /pets/batch
      > {
      > "operations":[
      > {"action":"remove","petId":{four}},{"action":"remove","petId":{three}},
      > {"action":"add","body":${REX}},{"action":"add","body":${REX}}
      > ]
      > }
      < 200
      < {"results":[{"status":204,…},{"status":204,…},{"status":201,…},{"status":201,…}]}
      > GET /{second}
      < 200
      < link: (none)
      < [${five("two", "one")}]
    `,
  })),
  ...[OF_CATEGORY, OF_STORE].map(([query, needs]) => ({
    clause: `with order=asc, paging ends with the animals that were added meanwhile: ${query}`,
    needs,
    told: `
      ${ADDS_FIVE}
      > GET /pets?${query}&order=asc&limit=3
      < 200
      < link: <{base}/{second}>; rel="next"
      < [${five("one", "two", "three")}]
      > DELETE /pets/{three}
      < 204
      ${adds("six", REX)}
      > GET /{second}
      < 200
      < link: (none)
      < [${five("four", "five")},{"id":{six},"name":"Rex","categoryId":{category}}]
    `,
  })),
  ...[AVAILABLE_OF_CATEGORY, AVAILABLE_OF_STORE].map(([query, needs]) => ({
    clause: `paging continues after an animal that is no longer found: ${query}`,
    needs,
    told: `
      ${ADDS_FIVE}
      > GET /pets?${query}&limit=2
      < 200
      < link: <{base}/{second}>; rel="next"
      < [${five("five", "four")}]
      > PATCH /pets/{four}
      > {"status":"sold"}
      < 200
      > GET /{second}
      < 200
      < [${five("three", "two")}]
    `,
  })),
  {
    clause: "each page shows an animal as it is when the page is read",
    told: `
      ${ADDS_FIVE}
      > GET /pets?categoryId={category}&limit=3
      < 200
      < link: <{base}/{second}>; rel="next"
      < [${five("five", "four", "three")}]
      > PATCH /pets/{two}
      > {"name":"Mia","status":null}
      < 200
      > GET /{second}
      < 200
      < [{"id":{two},"name":"Mia","categoryId":{category}},${five("one")}]
    `,
  },
  {
    clause: "a cursor beyond all animals begins with the newest one",
    told: `
      ${ADDS_FIVE}
      > GET /pets?categoryId={category}&limit=1&cursor=9999999999999999999
      < 200
      < [${five("five")}]
    `,
  },
];

/** Queries for {@linkcode ADDS_NINE}. */
const QUERIES_FOR_NINE: Query[] = [
  OF_CATEGORY,
  ["categoryId={category}&order=asc", []],
  ["categoryId={category}&q={word}", []],
  ["name={word}", ["an empty store"]],
  ["status=sold", ["an empty store"]],
  ["order=asc", ["an empty store"]],
  ["order=desc", ["an empty store"]],
];

const LENGTH: Story[] = [
  ...QUERIES_FOR_NINE.map(([query, needs]) => ({
    clause: `a page ends after 128 Ki characters, and Link leads to the rest: ${query}`,
    needs,
    told: `
      ${ADDS_NINE}
      > GET /pets?${query}&limit=100
      < 200
      < link: <{base}/{second}>; rel="next"
      < ${FIRST_EIGHT}
      > GET /{second}
      < 200
      < link: (none)
      < ${NINTH}
    `,
  })),
  {
    clause: "a page of ids has all of them, however long they are",
    told: `
      ${ADDS_NINE}
      > GET /pets?categoryId={category}&limit=100
      < 200
      < link: <{base}/{second}>; rel="next"
      < ${FIRST_EIGHT}
      > GET /{second}
      < 200
      < ${NINTH}
      > GET /pets?ids={a},{b},{c},{d},{e},{f},{g},{h},{i}
      < 200
      < link: (none)
      < [${["a", "b", "c", "d", "e", "f", "g", "h", "i"].map((id) => `{"id":{${id}},…}`)}]
    `,
  },
];

const HEADERS: Story[] = [
  {
    clause: "each page of a list has the number of animals on all of them, as X-Total-Count",
    needs: ["an empty store"],
    told: `
      ${ADDS_FIVE}
      ${adds("six", REX)}
      > GET /pets?limit=4
      < 200
      < x-total-count: 6
      < link: <{base}/{second}>; rel="next"
      > GET /{second}
      < 200
      < x-total-count: 6
    `,
  },
  ...[["available", 5], ["pending", 0], ["none", 1]].map(([status, total]): Story => ({
    clause: `X-Total-Count is the number of animals of a status: ${status}`,
    needs: ["an empty store"],
    told: `
      ${ADDS_FIVE}
      ${adds("six", REX)}
      > GET /pets?status=${status}&limit=1
      < 200
      < x-total-count: ${total}
    `,
  })),
  ...QUERIES_FOR_FIVE.map((query) => ({
    clause: `X-Total-Count is there if one page has all animals, and else not: ${query}`,
    told: `
      ${ADDS_FIVE}
      > GET /pets?${query}
      < 200
      < x-total-count: 5
      > GET /pets?${query}&limit=3
      < 200
      < x-total-count: (none)
      < link: <{base}/{second}>; rel="next"
      > GET /{second}
      < 200
      < x-total-count: (none)
    `,
  })),
  {
    clause: "events continue a list from its X-Feed-Position",
    needs: ["a store that nobody else changes"],
    told: `
      ${adds("rex", REX)}
      > GET /pets?limit=1
      < 200
      < x-feed-position: {position}
      > GET /events?lastEventId={position}
      < 200
      < []
      ${adds("max", REX)}
      > DELETE /pets/{rex}
      < 204
      > GET /events?lastEventId={position}
      < 200
      < [{"type":"PetCreated","subject":"pets/{max}",…},{"type":"PetRemoved","subject":"pets/{rex}",…}]
    `,
  },
  {
    clause: "each list has an X-Feed-Position, whatever its filter",
    needs: ["a store that nobody else changes"],
    told: `
      ${adds("rex", REX)}
      > GET /pets
      < 200
      < x-feed-position: {position}
      ${
      [
        "categoryId={category}",
        "status=sold&order=asc",
        "ids={rex}",
        "categoryId={category}&name=rex",
        "categoryId={category}&q=rex&limit=1",
        "removed=true",
      ].map((query) => `
        > GET /pets?${query}
        < 200
        < x-feed-position: {position}
      `).join("")
    }
    `,
  },
];

const STATUSES = ["available", "pending", "sold", "none"];

/** Adds an animal with each status, and one without. */
const ADDS_EACH_STATUS = STATUSES.map((status) =>
  adds(
    status,
    status === "none" ? REX : `{"name":"Rex","categoryId":{category},"status":"${status}"}`,
  )
).join("");

const CATEGORIES = [
  "9223372036854775807",
  "-9223372036854775808",
  "9007199254740993",
  "-1",
  "0",
];

const FILTERS: Story[] = [
  ...STATUSES.slice(0, -1).map((status) => ({
    clause: `with status=${status}, a list has all animals with that status`,
    told: `
      ${ADDS_EACH_STATUS}
      > GET /pets?categoryId={category}&status=${status}
      < 200
      < [{"id":{${status}},"name":"Rex","categoryId":{category},"status":"${status}"}]
    `,
  })),
  {
    clause: "with status=none, a list has the animals without a status",
    told: `
      ${ADDS_EACH_STATUS}
      > GET /pets?categoryId={category}&status=none
      < 200
      < [{"id":{none},"name":"Rex","categoryId":{category}}]
    `,
  },
  {
    clause: "an animal whose status has changed is found by the new one",
    told: `
      ${adds("rex", '{"name":"Rex","categoryId":{category},"status":"available"}')}
      > PATCH /pets/{rex}
      > {"status":"sold"}
      < 200
      > GET /pets?categoryId={category}&status=available
      < 200
      < []
      > GET /pets?categoryId={category}&status=sold
      < 200
      < [{"id":{rex},"name":"Rex","categoryId":{category},"status":"sold"}]
      > PATCH /pets/{rex}
      > {"status":null}
      < 200
      > GET /pets?categoryId={category}&status=none
      < 200
      < [{"id":{rex},"name":"Rex","categoryId":{category}}]
    `,
  },
  {
    clause: "with categoryId, a list has all animals of that category and no others",
    told: `
      ${adds("rex", REX)}
      ${adds("max", '{"name":"Max","categoryId":{otherCategory}}')}
      ${adds("mia", '{"name":"Mia","categoryId":{category}}')}
      > GET /pets?categoryId={category}
      < 200
      < [{"id":{mia},"name":"Mia","categoryId":{category}},{"id":{rex},"name":"Rex","categoryId":{category}}]
      > GET /pets?categoryId={otherCategory}
      < 200
      < [{"id":{max},"name":"Max","categoryId":{otherCategory}}]
    `,
  },
  {
    clause: "a category without animals has an empty list",
    told: `
      > GET /pets?categoryId={category}
      < 200
      < link: (none)
      < x-total-count: 0
      < []
    `,
  },
  {
    clause: "a list that is read again has each addition, change and removal since",
    told: `
      > GET /pets?categoryId={category}
      < 200
      < []
      ${adds("rex", REX)}
      > GET /pets?categoryId={category}
      < 200
      < [{"id":{rex},"name":"Rex","categoryId":{category}}]
      > PATCH /pets/{rex}
      > {"status":"sold"}
      < 200
      > GET /pets?categoryId={category}
      < 200
      < [{"id":{rex},"name":"Rex","categoryId":{category},"status":"sold"}]
      > DELETE /pets/{rex}
      < 204
      > GET /pets?categoryId={category}
      < 200
      < []
    `,
  },
  {
    clause: "an animal that has moved is found in its new category",
    told: `
      ${adds("rex", REX)}
      > PATCH /pets/{rex}
      > {"categoryId":{otherCategory}}
      < 200
      > GET /pets?categoryId={category}
      < 200
      < []
      > GET /pets?categoryId={otherCategory}
      < 200
      < [{"id":{rex},"name":"Rex","categoryId":{otherCategory}}]
    `,
  },
  ...CATEGORIES.map((category) => ({
    clause: `categoryId may be any int64: ${category}`,
    told: `
      ${adds("rex", `{"name":"Rex {word}","categoryId":${category}}`)}
      > GET /pets?categoryId=${category}&name={word}
      < 200
      < [{"id":{rex},"name":"Rex {word}","categoryId":${category}}]
    `,
  })),
  {
    clause: "an integer may end in .0",
    told: `
      ${adds("rex", REX)}
      > GET /pets?categoryId={category}.0
      < 200
      < [{"id":{rex},"name":"Rex","categoryId":{category}}]
      > GET /pets?ids={rex}.0
      < 200
      < [{"id":{rex},"name":"Rex","categoryId":{category}}]
    `,
  },
  {
    clause: "filters together find the animals that each of them finds",
    told: `
      ${ADDS_EACH_STATUS}
      ${adds("other", '{"name":"Rex","categoryId":{otherCategory},"status":"sold"}')}
      ${adds("max", '{"name":"Max","categoryId":{category},"status":"sold"}')}
      > GET /pets?status=sold&categoryId={category}&name=rex
      < 200
      < [{"id":{sold},"name":"Rex","categoryId":{category},"status":"sold"}]
    `,
  },
];

const IDS: Story[] = [
  {
    clause: "ids lists only these animals, the newest first, in whatever order they are named",
    told: `
      ${ADDS_FIVE}
      > GET /pets?ids={two},{five},{one}
      < 200
      < link: (none)
      < x-total-count: 3
      < [${five("five", "two", "one")}]
    `,
  },
  {
    clause: "ids may be repeated as a parameter",
    told: `
      ${ADDS_FIVE}
      > GET /pets?ids={two}&ids={five},{one}
      < 200
      < [${five("five", "two", "one")}]
    `,
  },
  {
    clause: "an id that is named twice is listed once",
    told: `
      ${ADDS_FIVE}
      > GET /pets?ids={two},{five},{two}
      < 200
      < x-total-count: 2
      < [${five("five", "two")}]
    `,
  },
  {
    clause: "ids leaves out those that no animal has",
    told: `
      ${ADDS_FIVE}
      > GET /pets?ids={nobody},{two}
      < 200
      < [${five("two")}]
      > GET /pets?ids={nobody}
      < 200
      < []
    `,
  },
  {
    clause: "ids may be 100",
    told: `
      ${ADDS_FIVE}
      > GET /pets?ids={two}${",{five}".repeat(99)}
      < 200
      < [${five("five", "two")}]
    `,
  },
];

const PARAMETERS: Story[] = refusedQueries("/pets", [
  [
    "an unknown parameter gets 400, which names those that are known",
    'Query parameter "a" is not known: use limit, status, categoryId, cursor, ids, name, q, order, removed',
    ["a=secret", "limit=5&a=1"],
  ],
  ...["__proto__", "toString", "Limit"].map((name): RefusedQueries => [
    `an unknown parameter gets 400, also one that each object has: ${name}`,
    `Query parameter "${name}" is not known: use limit, …`,
    [`${name}=1`],
  ]),
  ...["offset", "page"].map((name): RefusedQueries => [
    `${name} gets 400, which names the Link header`,
    `Query parameter "${name}" is not known: the address of the next page is in the Link header`,
    [`${name}=2`],
  ]),
  [
    "bytes that are not UTF-8 get 400",
    'Query parameter "name" is not valid UTF-8',
    // Latin-1, half a character, a surrogate, and a character in more bytes than it needs.
    ["Zo%EB", "%C3", "%EB%20o", "%ED%A0%80", "%C0%80", "%F5%80%80%80"]
      .map((value) => `limit=5&name=${value}`),
  ],
  [
    "bytes that are not UTF-8 get 400 in a number, too",
    'Query parameter "limit" is not valid UTF-8',
    ["limit=%FF"],
  ],
  [
    "bytes that are not UTF-8 get 400 in the name of a parameter, too",
    'Query parameter "na\ufffdme" is not valid UTF-8',
    ["na%EBme=x"],
  ],
  [
    "a repeated parameter gets 400",
    'Query parameter "limit" is repeated',
    ["limit=5&limit=5", "limit=5&status=sold&%6Cimit=6"],
  ],
  [
    "a limit that is no integer from 1 to 100 gets 400",
    'Query parameter "limit" must be an integer from 1 to 100',
    ["0", "101", "-1", "", "1.5", "1e1", "%201", "x"].map((value) => `limit=${value}`),
  ],
  [
    "another status gets 400",
    'Query parameter "status" must be one of available, pending, sold, none',
    ["secret", "None", "Available", "", "sold,pending"].map((value) => `status=${value}`),
  ],
  [
    "a category that is no int64 gets 400",
    'Query parameter "categoryId" must be an integer from -9223372036854775808 to 9223372036854775807',
    ["", "secret", "1.5", "01", "-0", "9223372036854775808"].map((value) => `categoryId=${value}`),
  ],
  [
    "another order gets 400",
    'Query parameter "order" must be one of asc, desc',
    ["", "ASC", "name"].map((value) => `order=${value}`),
  ],
  [
    "a cursor that no page had gets 400",
    'Query parameter "cursor" must be taken from the Link header of another page',
    ["secret", "0", "-1", "", "1.5", "9".repeat(20)].map((value) => `cursor=${value}`),
  ],
  [
    "ids that are no identifiers get 400",
    'Query parameter "ids" must be 1 to 100 identifiers, with commas between them',
    ["", "0", "-1", "1,", "1,secret", "1;2", "1,%202", "1.5", "1&ids="].map((value) =>
      `ids=${value}`
    ),
  ],
  [
    "more than 100 ids get 400",
    'Query parameter "ids" must be 1 to 100 identifiers, with commas between them',
    [`ids=1${",1".repeat(100)}`, `ids=1${"&ids=1".repeat(100)}`],
  ],
  [
    "ids with another parameter get 400",
    'Query parameter "ids" cannot be used with another parameter',
    ["limit=1", "cursor=1", "status=sold", "categoryId=1", "name=a", "q=a", "order=asc"]
      .map((other) => `ids=1&${other}`),
  ],
]);

export const LIST: Section = {
  title: "4.1 List animals",
  contract: [
    {
      clause: "a list is a bare array of animals, at most 20 without a limit",
      told: `
        ${ADDS_REX.repeat(21)}
        > GET /pets
        < 200
        < content-type: application/json…
        < [≤20 ${PET}]
      `,
    },
    ...[1, 2, 100].map((limit) => ({
      clause: `with limit=${limit}, a list has at most as many animals`,
      told: `
        > GET /pets?limit=${limit}
        < 200
        < [≤${limit} ${PET}]
      `,
    })),
    {
      clause: "an animal that was added is in a list, unless the limit leaves it out",
      needs: ["a store that nobody else changes"],
      told: `
        > POST /pets
        > {"name":"Rex","categoryId":{category},"status":"sold"}
        < 201
        < {"id":{rex},…}
        > GET /pets?limit=1&status=sold
        < 200
        < [{…}]
      `,
    },
    ...["available", "pending", "sold"].map((status) => ({
      clause: `with status=${status}, a list has only animals with that status`,
      told: `
        > POST /pets
        > {"name":"Rex","categoryId":{category},"status":"${status}"}
        < 201
        > GET /pets?status=${status}&limit=100
        < 200
        < [≤100 {"id":…,"name":"…","categoryId":…,"status":"${status}",…}]
      `,
    })),
  ],
  beyond: [...ORDER, ...PAGES, ...LENGTH, ...HEADERS, ...FILTERS, ...IDS, ...PARAMETERS],
};
