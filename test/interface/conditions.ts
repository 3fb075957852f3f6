import { errorOf, type Section, type Story } from "./story.ts";
import { adds, CHANGED, ERASED_REX, EXCLUDED, GONE, NOT_REMOVED } from "./told.ts";

const ADDS_REX = `
  > POST /pets
  > {"name":"{word}","categoryId":{category},"status":"available"}
  < 201
  < etag: "{tag}"
  < {"id":{rex},…}
`;

const malformed = (name: string) =>
  errorOf(
    400,
    "malformed_request",
    `Header ${name} must be the ETag of an animal or a category, such as "1f2e", or *`,
  );

/** Values of a header of which each names the tag. A proxy that compresses makes a tag weak, or adds a coding to it. */
const NAMING_TAG = [
  '"{tag}"',
  "*",
  '"a", "{tag}"',
  '"a","{tag}",W/"b"',
  '"a,b", "{tag}"',
  ', ,\t"a" ,, "{tag}"\t,',
  'W/"{tag}"',
  '"a", W/"{tag}"',
  '"{tag}-gzip"',
  'W/"{tag}-br", "a"',
  '"a", W/"{tag}-zstd"',
];

/** Values of a header that is well-formed, but does not name the tag. */
const NAMING_OTHERS = [
  '"a"',
  'W/"a"',
  '"{tag}0"',
  '"0{tag}"',
  '"{tag}-gzip-gzip"',
  '"a,{tag}"',
  '"*"',
  '"é"',
];

const MALFORMED = [
  ...["", ",", "secret", "{tag}", '"a', 'a"', '"a""b"', '"a" "b"', '"a b"'],
  ...['w/"a"', 'W/ "a"', "W/", '*, "a"', '"a", *', "**"],
];

/** All reads but that of the events, which has no ETag. */
const READS = [
  "/pets?categoryId={category}",
  "/pets?categoryId={category}&limit=1",
  "/pets?ids={rex}",
  "/pets/{rex}",
  "/pets/{rex}/events",
  "/categories/{category}",
  "/categories/{category}/events",
  "/key",
];

/** Those that show what others write. The Link of a search says how far it has looked, which others change, too. */
const READS_OF_ALL = [
  ...["/pets?limit=1", "/pets?removed=true", "/categories", "/categories/counts"],
  ...["/pets?name={word}&limit=1", "/pets/summary?name={word}"],
];

export const CONDITIONS: Section = {
  title: "4 Conditions",
  contract: [],
  beyond: [
    {
      clause: "If-Match lets a change pass if it names the ETag",
      told: [
        ADDS_REX,
        ...NAMING_TAG.map((value) => `
          > PATCH /pets/{rex}
          > if-match: ${value}
          > {"status":"available"}
          < 200
          < etag: "{tag}"
        `),
      ].join(""),
    },
    {
      clause: "If-Match refuses a change with 412 if it does not name the ETag",
      told: [
        ADDS_REX,
        ...NAMING_OTHERS.map((value) => `
          > PATCH /pets/{rex}
          > if-match: ${value}
          > {"status":"sold"}
          < 412
          < ${CHANGED}
        `),
      ].join(""),
    },
    {
      clause: "a change that If-Match refuses changes nothing",
      told: `
        ${ADDS_REX}
        > PATCH /pets/{rex}
        > if-match: "a"
        > {"status":"sold"}
        < 412
        > GET /pets/{rex}
        < 200
        < etag: "{tag}"
        < {"id":{rex},"name":"{word}","categoryId":{category},"status":"available"}
      `,
    },
    {
      clause: "of two changes with the ETag of a page of one id, the second gets 412",
      told: `
        ${ADDS_REX}
        > GET /pets?ids={rex}
        < 200
        < etag: "{tag}"
        > PATCH /pets/{rex}
        > if-match: "{tag}"
        > {"status":"sold"}
        < 200
        > PATCH /pets/{rex}
        > if-match: "{tag}"
        > {"status":"sold"}
        < 412
        < ${CHANGED}
      `,
    },
    {
      clause: "the ETag of a page of one id in gzip lets one change pass, too",
      told: `
        > POST /pets
        > {"name":"${"x".repeat(1_000)}","categoryId":{category}}
        < 201
        < etag: "{tag}"
        < {"id":{rex},…}
        > GET /pets?ids={rex}
        > accept-encoding: gzip
        < 200
        < etag: "{tag}-gzip"
        > PATCH /pets/{rex}
        > if-match: "{tag}-gzip"
        > {"status":"sold"}
        < 200
        > PATCH /pets/{rex}
        > if-match: "{tag}-gzip"
        > {"status":"pending"}
        < 412
        < ${CHANGED}
      `,
    },
    {
      clause: "the ETag of a page of other ids names no animal in If-Match",
      told: [
        ADDS_REX,
        adds("max", '{"name":"Max","categoryId":{category}}'),
        ...["{rex},{max}", "{max}"].map((ids, index) => `
          > GET /pets?ids=${ids}
          < 200
          < etag: "{page${index}}"
          > PATCH /pets/{rex}
          > if-match: "{page${index}}"
          > {"status":"sold"}
          < 412
          < ${CHANGED}
        `),
      ].join(""),
    },
    {
      clause: "If-Match lets a removal pass if it names the ETag, and else refuses it with 412",
      told: `
        ${ADDS_REX}
        > DELETE /pets/{rex}
        > if-match: W/"a", "{tag}0"
        < 412
        < ${CHANGED}
        > DELETE /pets/{rex}
        > if-match: W/"{tag}"
        < 204
      `,
    },
    {
      clause: "If-Match of a restore names the ETag before the removal",
      told: `
        ${ADDS_REX}
        > DELETE /pets/{rex}
        < 204
        > POST /pets/{rex}/restore
        > if-match: "a"
        < 412
        < ${CHANGED}
        > POST /pets/{rex}/restore
        > if-match: "{tag}"
        < 200
        < etag: "{tag}"
      `,
    },
    ...['"{tag}"', "*", '"a", W/"{tag}-gzip"'].map((value) => ({
      clause: `If-None-Match: ${value} refuses a change and a removal with 412`,
      told: `
        ${ADDS_REX}
        > PATCH /pets/{rex}
        > if-none-match: ${value}
        > {"status":"sold"}
        < 412
        < ${EXCLUDED}
        > DELETE /pets/{rex}
        > if-none-match: ${value}
        < 412
        < ${EXCLUDED}
        > GET /pets/{rex}
        < 200
        < etag: "{tag}"
      `,
    })),
    {
      clause: "If-None-Match lets a change and a removal pass if it names other states",
      told: `
        ${ADDS_REX}
        > PATCH /pets/{rex}
        > if-none-match: "a"
        > {"status":"sold"}
        < 200
        > DELETE /pets/{rex}
        > if-none-match: "{tag}"
        < 204
      `,
    },
    {
      clause: "If-None-Match of a change names the state before it",
      told: `
        > POST /pets
        > {"name":"Rex","categoryId":{category},"status":"sold"}
        < 201
        < etag: "{sold}"
        < {"id":{rex},…}
        > PATCH /pets/{rex}
        > {"status":"available"}
        < 200
        > PATCH /pets/{rex}
        > if-none-match: "{sold}"
        > {"status":"sold"}
        < 200
        < etag: "{sold}"
      `,
    },
    {
      clause: "If-None-Match of a restore names the state before the removal",
      told: `
        ${ADDS_REX}
        > DELETE /pets/{rex}
        < 204
        > POST /pets/{rex}/restore
        > if-none-match: "{tag}"
        < 412
        < ${EXCLUDED}
        > POST /pets/{rex}/restore
        > if-none-match: "a"
        < 200
      `,
    },
    {
      clause: "404 comes before the condition of a change, a removal and a restore",
      told: [
        ["PATCH /pets/{nobody}", '> {"status":"sold"}'],
        ["DELETE /pets/{nobody}", ""],
        ["POST /pets/{nobody}/restore", ""],
      ].flatMap(([request, body]) =>
        ["if-match: *", 'if-match: "a"', "if-none-match: *", 'if-none-match: "a"'].map((header) => `
          > ${request}
          > ${header}
          ${body}
          < 404
          < ${GONE}
        `)
      ).join(""),
    },
    {
      clause: "409 comes before the condition of a restore",
      told: `
        ${ADDS_REX}
        > POST /pets/{rex}/restore
        > if-match: "a"
        < 409
        < ${NOT_REMOVED}
        > POST /pets/{rex}/restore
        > if-none-match: *
        < 409
        < ${NOT_REMOVED}
      `,
    },
    {
      clause: "409 of an erased animal comes before the condition of a restore",
      told: `
        ${adds("rex", ERASED_REX)}
        > DELETE /pets/{rex}
        < 204
        > POST /pets/{rex}/restore
        > if-match: "a"
        < 409
        < ${errorOf(409, "pet_erased")}
        > POST /pets/{rex}/restore
        > if-none-match: *
        < 409
        < ${errorOf(409, "pet_erased")}
      `,
    },
    ...["if-match", "if-none-match"].map((header) => ({
      clause: `an addition has no state before it, so it ignores ${header}`,
      told: [
        `
          > GET /pets?categoryId={category}
          < 200
          < etag: "{list}"
        `,
        ...['"{list}"', "*", '"a"'].map((value) => `
          > POST /pets
          > ${header}: ${value}
          > {"name":"Rex","categoryId":{category}}
          < 201
        `),
      ].join(""),
    })),
    ...[["If-Match", "if-match"], ["If-None-Match", "if-none-match"]].map(([name, header]) => ({
      clause: `a malformed ${name} of a write gets 400`,
      told: [
        ADDS_REX,
        ...MALFORMED.map((value) => `
          > PATCH /pets/{rex}
          > ${header}: ${value}
          > {"status":"sold"}
          < 400
          < ${malformed(name)}
        `),
      ].join(""),
    })),
    ...[["If-Match", "if-match"], ["If-None-Match", "if-none-match"]].map(([name, header]) => ({
      clause: `a malformed ${name} gets 400 from each write that takes it`,
      told: [
        ["DELETE /pets/{nobody}", ""],
        ["POST /pets/{nobody}/restore", ""],
        ["PUT /categories/{category}", '> {"name":"{word}"}'],
        ["DELETE /categories/{category}", ""],
      ].map(([request, body]) => `
        > ${request}
        > ${header}: any
        ${body}
        < 400
        < ${malformed(name)}
      `).join(""),
    })),
    {
      clause: "with If-Match and If-None-Match, both decide",
      told: `
        ${ADDS_REX}
        > PATCH /pets/{rex}
        > if-match: "{tag}"
        > if-none-match: "{tag}"
        > {"status":"sold"}
        < 412
        < ${EXCLUDED}
        > PATCH /pets/{rex}
        > if-match: "{tag}"
        > if-none-match: "a"
        > {"status":"sold"}
        < 200
      `,
    },
    ...READS.map(unchangedRead),
    ...READS_OF_ALL.map((path): Story => ({
      ...unchangedRead(path),
      needs: ["a store that nobody else changes"],
    })),
    {
      clause: "If-None-Match of a read may name its ETag beside others, weak or with a coding",
      told: [
        ADDS_REX,
        ...NAMING_TAG.map((value) => `
          > GET /pets/{rex}
          > if-none-match: ${value}
          < 304
          < (none)
        `),
      ].join(""),
    },
    {
      clause: "If-None-Match of a read gets the whole response if it does not name its ETag",
      told: [
        ADDS_REX,
        ...['"a"', 'W/"a", "b"', '"{tag}0"', "{tag}", "", '"*"'].map((value) => `
          > GET /pets/{rex}
          > if-none-match: ${value}
          < 200
          < etag: "{tag}"
          < {"id":{rex},"name":"{word}","categoryId":{category},"status":"available"}
        `),
      ].join(""),
    },
    {
      clause: "the 304 of a list has the headers of the list",
      needs: ["a store that nobody else changes"],
      told: `
        > POST /pets
        > {"name":"Rex","categoryId":{category}}
        < 201
        > POST /pets
        > {"name":"Max","categoryId":{category}}
        < 201
        > GET /pets?limit=1
        < 200
        < etag: "{page}"
        < link: {next}
        < x-total-count: {count}
        < x-feed-position: {position}
        < vary: {vary}
        > GET /pets?limit=1
        > if-none-match: "{page}"
        < 304
        < etag: "{page}"
        < link: {next}
        < x-total-count: {count}
        < x-feed-position: {position}
        < vary: {vary}
      `,
    },
    {
      clause: "a page that shows the same animals, but is the last one now, has another ETag",
      told: `
        ${ADDS_REX}
        > POST /pets
        > {"name":"Max","categoryId":{category}}
        < 201
        > GET /pets?categoryId={category}&limit=1
        < 200
        < etag: "{page}"
        < link: {next}
        > DELETE /pets/{rex}
        < 204
        > GET /pets?categoryId={category}&limit=1
        > if-none-match: "{page}"
        < 200
        < etag: "{last}"
        < link: (none)
      `,
    },
    {
      clause: "an animal that has changed since its ETag is read again",
      told: `
        ${ADDS_REX}
        > PATCH /pets/{rex}
        > {"status":"sold"}
        < 200
        > GET /pets/{rex}
        > if-none-match: "{tag}"
        < 200
        < {"id":{rex},"name":"{word}","categoryId":{category},"status":"sold"}
        > GET /pets?ids={rex}
        > if-none-match: "{tag}"
        < 200
        < [{"id":{rex},"name":"{word}","categoryId":{category},"status":"sold"}]
      `,
    },
    {
      clause: "no response to a write may be stored",
      told: `
        > POST /pets
        > {"name":"Rex","categoryId":{category}}
        < 201
        < cache-control: no-store
        < {"id":{rex},…}
        > PATCH /pets/{rex}
        > {"status":"sold"}
        < 200
        < cache-control: no-store
        > DELETE /pets/{rex}
        < 204
        < cache-control: no-store
        > POST /pets/{rex}/restore
        < 200
        < cache-control: no-store
      `,
    },
    {
      clause: "no error may be stored or become 304, and none has an ETag",
      told: [
        ADDS_REX,
        ...[
          ["404", "GET /pets/{nobody}"],
          ["400", "GET /pets?limit=0"],
          ["405", "PUT /pets"],
          ["401", "GET /pets", "authorization: (none)"],
          ["415", "POST /pets", "content-type: text/plain", "{}"],
          ["400", "POST /pets", "content-type: application/json", "{"],
          ["412", "DELETE /pets/{rex}"],
        ].map(([status, request, header = "accept: */*", body]) => `
          > ${request}
          > ${header}
          > if-none-match: *
          ${body === undefined ? "" : `> ${body}`}
          < ${status}
          < cache-control: no-store
          < etag: (none)
        `),
      ].join(""),
    },
  ],
};

function unchangedRead(path: string): Story {
  return {
    clause: `GET ${path} gets 304 without a body if If-None-Match names its ETag`,
    told: `
      ${ADDS_REX}
      > PUT /categories/{category}
      > {"name":"{word}"}
      < 201
      > GET ${path}
      < 200
      < etag: "{page}"
      < cache-control: private, no-cache
      > GET ${path}
      > if-none-match: "{page}"
      < 304
      < etag: "{page}"
      < cache-control: private, no-cache
      < content-type: (none)
      < (none)
      > HEAD ${path}
      > if-none-match: "{page}"
      < 304
      < etag: "{page}"
      < (none)
      > GET ${path}
      > if-none-match: "a"
      < 200
      < etag: "{page}"
    `.replaceAll(...ownTagOf(path)),
  };
}

/** A page of one animal has the ETag of the animal: two names would be two values. */
function ownTagOf(path: string): [string, string] {
  const isOfAnimal = path === "/pets/{rex}" || path === "/pets?ids={rex}";
  return ["{page}", isOfAnimal ? "{tag}" : "{page}"];
}
