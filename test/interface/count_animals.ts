import type { Section } from "./story.ts";
import { adds, refusedQueries } from "./told.ts";

export const COUNT_ANIMALS: Section = {
  title: "4.14 Count the animals of categories",
  contract: [],
  beyond: [
    {
      clause: "a store without animals has no counts, also if categories have names",
      needs: ["an empty store"],
      told: `
        > PUT /categories/{category}
        > {"name":"Dogs {word}"}
        < 201
        > GET /categories/counts
        < 200
        < content-type: application/json
        < []
      `,
    },
    {
      clause: "each category has the number of its animals, with a name or without",
      told: `
        > PUT /categories/{category}
        > {"name":"Dogs {word}"}
        < 201
        ${adds("rex", '{"name":"Rex","categoryId":{category},"status":"sold"}')}
        ${adds("max", '{"name":"Max","categoryId":{otherCategory}}')}
        ${adds("mia", '{"name":"Mia","categoryId":{category}}')}
        > GET /categories/counts
        < 200
        < [
        < …,
        < {"id":{category},"animals":2},
        < …
        < ]
        > GET /categories/counts
        < 200
        < [
        < …,
        < {"id":{otherCategory},"animals":1},
        < …
        < ]
      `,
    },
    {
      clause: "counts begin with the smallest id",
      needs: ["an empty store"],
      told: `
        ${adds("rex", '{"name":"Rex","categoryId":9223372036854775807}')}
        ${adds("max", '{"name":"Max","categoryId":{category}}')}
        ${adds("mia", '{"name":"Mia","categoryId":-3}')}
        ${adds("zoe", '{"name":"Zoë","categoryId":{otherCategory}}')}
        ${adds("ten", '{"name":"Ten","categoryId":10}')}
        ${adds("nine", '{"name":"Nine","categoryId":9}')}
        > GET /categories/counts
        < 200
        < [
        < {"id":{otherCategory},"animals":1},
        < {"id":-3,"animals":1},
        < {"id":9,"animals":1},
        < {"id":10,"animals":1},
        < {"id":{category},"animals":1},
        < {"id":9223372036854775807,"animals":1}
        < ]
      `,
    },
    {
      clause: "counts follow changes, moves and removals",
      needs: ["an empty store"],
      told: `
        ${adds("rex", '{"name":"Rex","categoryId":{category}}')}
        ${adds("max", '{"name":"Max","categoryId":{category}}')}
        ${adds("mia", '{"name":"Mia","categoryId":-3}')}
        > PATCH /pets/{rex}
        > {"status":"sold"}
        < 200
        > PATCH /pets/{max}
        > {"categoryId":{otherCategory}}
        < 200
        > DELETE /pets/{mia}
        < 204
        > GET /categories/counts
        < 200
        < [{"id":{otherCategory},"animals":1},{"id":{category},"animals":1}]
      `,
    },
    {
      clause: "counts have the X-Feed-Position of a list",
      needs: ["a store that nobody else changes"],
      told: `
        ${adds("rex", '{"name":"Rex","categoryId":{category}}')}
        > GET /pets?limit=1
        < 200
        < x-feed-position: {position}
        > GET /categories/counts
        < 200
        < x-feed-position: {position}
      `,
    },
    {
      clause: "the ETag of counts changes with them",
      needs: ["a store that nobody else changes"],
      told: `
        ${adds("rex", '{"name":"Rex","categoryId":{category}}')}
        > GET /categories/counts
        < 200
        < etag: "{tag}"
        ${adds("max", '{"name":"Max","categoryId":{category}}')}
        > GET /categories/counts
        > if-none-match: "{tag}"
        < 200
        < etag: "{otherTag}"
      `,
    },
    ...refusedQueries("/categories/counts", [
      [
        "a parameter gets 400",
        'Query parameter "limit" is not known: this operation takes none',
        ["limit=1"],
      ],
    ]),
  ],
};
