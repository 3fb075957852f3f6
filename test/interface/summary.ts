import type { Section, Story } from "./story.ts";
import { adds, refusedQueries } from "./told.ts";

/** A summary with these numbers. */
function counts(available: number, pending: number, sold: number, none: number): string {
  const numbers = `{"available":${available},"pending":${pending},"sold":${sold},"none":${none}}`;
  return `{"counts":${numbers},"similarNames":[]}`;
}

/** Adds animals: two available, one pending, none sold, and one without a status; another one to another category. */
const ADDS_FIVE = `
  ${adds("rex", '{"name":"Rex {word}","categoryId":{category},"status":"available"}')}
  ${adds("max", '{"name":"Max {word}","categoryId":{category},"status":"available"}')}
  ${adds("zoe", '{"name":"Zoë {word}","categoryId":{category},"status":"pending"}')}
  ${adds("mia", '{"name":"Mia {word}","categoryId":{category},"note":"Likes Rex"}')}
  ${adds("other", '{"name":"T. REX {word}","categoryId":{otherCategory},"status":"sold"}')}
`;

const COUNTS: Story[] = [
  {
    clause: "without a filter, all animals of the store are counted",
    needs: ["an empty store"],
    told: `
      > GET /pets/summary
      < 200
      < ${counts(0, 0, 0, 0)}
      ${ADDS_FIVE}
      > GET /pets/summary
      < 200
      < content-type: application/json
      < link: (none)
      < ${counts(2, 1, 1, 1)}
      > PATCH /pets/{rex}
      > {"status":null}
      < 200
      > DELETE /pets/{other}
      < 204
      > GET /pets/summary
      < 200
      < ${counts(1, 1, 0, 2)}
    `,
  },
  ...[
    ["the animals of a category are counted", "categoryId={category}", counts(2, 1, 0, 1)],
    ["an integer may end in .0", "categoryId={category}.0", counts(2, 1, 0, 1)],
    ["what a search by name finds is counted", "name={word}", counts(2, 1, 1, 1)],
    ["name compares words as in a list", "name=rEx%20{word}", counts(1, 0, 1, 0)],
    ["q looks in notes, too", "q=rex%20{word}", counts(1, 0, 1, 1)],
    [
      "filters count together what a list finds: name",
      "name=rex&categoryId={category}",
      counts(1, 0, 0, 0),
    ],
    [
      "filters count together what a list finds: q",
      "q=rex&categoryId={category}",
      counts(1, 0, 0, 1),
    ],
    ["a search of separators counts all animals", "q=,&categoryId={category}", counts(2, 1, 0, 1)],
    ["what finds nothing has zeros", "name=nothing&categoryId={category}", counts(0, 0, 0, 0)],
  ].map(([clause, query, body]) => ({
    clause,
    told: `
      ${ADDS_FIVE}
      > GET /pets/summary?${query}
      < 200
      < ${body}
    `,
  })),
  {
    clause: "a category without animals has zeros",
    told: `
      > GET /pets/summary?categoryId={category}
      < 200
      < ${counts(0, 0, 0, 0)}
    `,
  },
  ...["categoryId={category}", "name=rex%20{word}", "q=rex%20{word}&categoryId={category}"].map(
    (query) => ({
      clause: `a summary follows each addition, change, move and removal: ${query}`,
      told: `
        ${adds("rex", '{"name":"Rex {word}","categoryId":{category},"status":"sold"}')}
        > GET /pets/summary?${query}
        < 200
        < ${counts(0, 0, 1, 0)}
        ${adds("max", '{"name":"T. REX {word}","categoryId":{category}}')}
        > GET /pets/summary?${query}
        < 200
        < ${counts(0, 0, 1, 1)}
        > PATCH /pets/{max}
        > {"status":"pending"}
        < 200
        > GET /pets/summary?${query}
        < 200
        < ${counts(0, 1, 1, 0)}
        > DELETE /pets/{rex}
        < 204
        > GET /pets/summary?${query}
        < 200
        < ${counts(0, 1, 0, 0)}
      `,
    }),
  ),
  {
    clause: "an animal is counted in the category to which it has moved",
    told: `
      ${adds("rex", '{"name":"Rex","categoryId":{category},"status":"sold"}')}
      > PATCH /pets/{rex}
      > {"categoryId":{otherCategory}}
      < 200
      > GET /pets/summary?categoryId={category}
      < 200
      < ${counts(0, 0, 0, 0)}
      > GET /pets/summary?categoryId={otherCategory}
      < 200
      < ${counts(0, 0, 1, 0)}
      > GET /pets/summary?categoryId={otherCategory}&name=rex
      < 200
      < ${counts(0, 0, 1, 0)}
    `,
  },
  {
    clause: "an animal is counted by its new name",
    told: `
      ${adds("rex", '{"name":"Rex {word}","categoryId":{category},"status":"sold"}')}
      > PATCH /pets/{rex}
      > {"name":"Max {word}"}
      < 200
      > GET /pets/summary?name=max%20{word}
      < 200
      < ${counts(0, 0, 1, 0)}
      > GET /pets/summary?name=rex&categoryId={category}
      < 200
      < ${counts(0, 0, 0, 0)}
    `,
  },
  ...["categoryId={category}", "name=rex&categoryId={category}", "q=rex&categoryId={category}"]
    .map((query) => ({
      clause: `a summary of all that is found has no Link: ${query}`,
      told: `
        ${ADDS_FIVE}
        > GET /pets/summary?${query}
        < 200
        < link: (none)
      `,
    })),
  {
    clause: "a summary has the X-Feed-Position of a list",
    needs: ["a store that nobody else changes"],
    told: `
      ${ADDS_FIVE}
      > GET /pets?limit=1
      < 200
      < x-feed-position: {position}
      ${
      ["", "?categoryId={category}", "?name=rex&categoryId={category}"].map((query) => `
        > GET /pets/summary${query}
        < 200
        < x-feed-position: {position}
      `).join("")
    }
    `,
  },
  ...["categoryId={category}", "name=rex&categoryId={category}"].map((query) => ({
    clause: `the ETag of a summary changes with its numbers: ${query}`,
    told: `
      ${ADDS_FIVE}
      > GET /pets/summary?${query}
      < 200
      < etag: "{tag}"
      > DELETE /pets/{rex}
      < 204
      > GET /pets/summary?${query}
      > if-none-match: "{tag}"
      < 200
      < etag: "{otherTag}"
    `,
  })),
];

/** Adds animals with these names. */
const addsNamed = (names: string[]) =>
  names.map((name, index) =>
    adds(`id${index}`, `{"name":${JSON.stringify(name)},"categoryId":{category}}`)
  ).join("");

const NAMES = ["Bello, Zoë's dog", "Bella", "Max", "Rex", "Max"];

/** What similar names are, a search, and the similar ones of these names. */
const SIMILAR: [clause: string, search: string, similar: string[]][] = [
  ["a similar name has a word that differs in a letter", "Belo", ["Bello, Zoë's dog"]],
  ["from five letters on, a word may differ in two", "Bllla", ["Bella", "Bello, Zoë's dog"]],
  ["a letter that is left out is one that differs", "blla", ["Bella"]],
  ["two letters that have changed places are one that differs", "mxa", ["Max"]],
  ["a similar name has at least one of the words", "Bella Rex", [
    "Bella",
    "Bello, Zoë's dog",
    "Rex",
  ]],
  ["a name with the word itself comes first", "Bello cat", ["Bello, Zoë's dog", "Bella"]],
  ["words are compared without regard to accents and case", "ZÖE cat", ["Bello, Zoë's dog"]],
  ["a word of two letters must be in the name", "Mx", []],
  ["nothing may be similar", "Wolfgang", []],
];

const SIMILAR_NAMES: Story[] = [
  ...SIMILAR.flatMap(([clause, search, similar]) =>
    ["name", "q"].map((parameter) => ({
      clause: `${clause}: by ${parameter}`,
      told: `
        ${addsNamed(NAMES)}
        > GET /pets/summary?categoryId={category}&${parameter}=${encodeURIComponent(search)}
        < 200
        < {"counts":{…},"similarNames":${JSON.stringify(similar)}}
      `,
    }))
  ),
  {
    clause: "if a search finds something, no name is similar",
    told: `
      ${addsNamed(["Rax", "Rex", "Rux"])}
      > GET /pets/summary?categoryId={category}&name=rex
      < 200
      < ${counts(0, 0, 0, 1)}
    `,
  },
  {
    clause: "at most five names are similar",
    told: `
      ${addsNamed(["Rexi", "Rexa", "Rexo", "Rexu", "Rexe", "Rexy"])}
      > GET /pets/summary?categoryId={category}&name=Rex1
      < 200
      < {"counts":{"available":0,"pending":0,"sold":0,"none":0},"similarNames":["…","…","…","…","…"]}
    `,
  },
  {
    clause: "a name of more than 100 characters, for which no search can be, is not similar",
    told: `
      ${addsNamed([`Bella ${"x".repeat(95)}`, `Bella ${"x".repeat(94)}`])}
      > GET /pets/summary?categoryId={category}&name=Bella%20cat
      < 200
      < {"counts":{…},"similarNames":["Bella ${"x".repeat(94)}"]}
    `,
  },
  {
    clause: "names of other categories are not similar",
    told: `
      ${addsNamed(NAMES)}
      > GET /pets/summary?categoryId={otherCategory}&name=Belo
      < 200
      < ${counts(0, 0, 0, 0)}
    `,
  },
  {
    clause: "a name that no animal has any longer is not similar",
    told: `
      ${adds("rex", '{"name":"Rex","categoryId":{category}}')}
      > GET /pets/summary?categoryId={category}&name=Rax
      < 200
      < {"counts":{…},"similarNames":["Rex"]}
      > DELETE /pets/{rex}
      < 204
      > GET /pets/summary?categoryId={category}&name=Rax
      < 200
      < ${counts(0, 0, 0, 0)}
    `,
  },
];

export const SUMMARY: Section = {
  title: "4.17 Count animals by status",
  contract: [],
  beyond: [
    ...COUNTS,
    ...SIMILAR_NAMES,
    ...refusedQueries("/pets/summary", [
      [
        "a cursor needs a search",
        'Query parameter "cursor" needs name or q',
        ["cursor=7", "categoryId=7&cursor=7"],
      ],
      [
        "q with name gets 400",
        'Query parameter "q" cannot be used with name',
        ["q=a&name=a", "name=a&q=a"],
      ],
      [
        "q of no or of more than 100 characters gets 400",
        'Query parameter "q" must be 1 to 100 characters long',
        ["q=", `q=${"a".repeat(101)}`],
      ],
      [
        "other parameters of a list get 400",
        'Query parameter "status" is not known: use categoryId, cursor, name, q',
        ["status=sold"],
      ],
    ]),
  ],
};
