import { ADDS_NINE, FIRST_EIGHT, NINTH } from "./long_animals.ts";
import type { Section } from "./story.ts";
import { adds, ERASED_REX, refusedQueries } from "./told.ts";

/** Adds four animals. */
const ADDS_FOUR = ["one", "two", "three", "four"]
  .map((id) => adds(id, '{"name":"Rex","categoryId":{category}}'))
  .join("");

/** Removes some of them, one after the other. */
const removes = (...ids: string[]) =>
  ids.map((id) => `
    > DELETE /pets/{${id}}
    < 204
  `).join("");

/** Some of them in a list of removed animals. */
const removed = (...ids: string[]) =>
  ids.map((id) =>
    `{"id":{${id}},"name":"Rex","categoryId":{category},"removedAt":"…Z","etag":"\\"…\\""}`
  ).join(",");

export const LIST_REMOVED: Section = {
  title: "4.1 List removed animals",
  contract: [],
  beyond: [
    {
      clause: "removed=true lists the removed animals, last removed first",
      needs: ["a store that nobody else changes"],
      told: `
        ${ADDS_FOUR}
        ${removes("two", "four", "one")}
        > GET /pets?removed=true&limit=3
        < 200
        < content-type: application/json
        < [${removed("one", "four", "two")}]
      `,
    },
    {
      clause: "a removed animal is listed as it was, with its ETag and the time of its removal",
      told: `
        ${adds("rex", '{"name":"Rex","categoryId":{category},"note":"Likes\\nfish"}')}
        > PATCH /pets/{rex}
        > {"status":"sold"}
        < 200
        < etag: "{tag}"
        > DELETE /pets/{rex}
        < 204
        > GET /pets/{rex}/events?limit=1
        < 200
        < [{"type":"PetRemoved","time":"{time}",…}]
        > GET /pets?removed=true&limit=100
        < 200
        < [
        < …,
        < {
        < "id":{rex},"name":"Rex","categoryId":{category},"status":"sold","note":"Likes\\nfish",
        < "removedAt":"{time}","etag":"\\"{tag}\\""
        < },
        < …
        < ]
        > POST /pets/{rex}/restore
        < 200
        < etag: "{tag}"
      `,
    },
    {
      clause: "X-Total-Count says how many animals are removed",
      needs: ["an empty store"],
      told: `
        > GET /pets?removed=true
        < 200
        < x-total-count: 0
        < []
        ${ADDS_FOUR}
        ${removes("two", "four")}
        > GET /pets?removed=true&limit=1
        < 200
        < x-total-count: 2
        < [${removed("four")}]
      `,
    },
    {
      clause: "Link leads through the removed animals, and the last page has none",
      needs: ["an empty store"],
      told: `
        ${ADDS_FOUR}
        ${removes("two", "four", "one")}
        > GET /pets?removed=true&limit=2
        < 200
        < x-total-count: 3
        < link: <{base}/{second}>; rel="next"
        < [${removed("one", "four")}]
        > GET /{second}
        < 200
        < x-total-count: 3
        < link: (none)
        < [${removed("two")}]
        > GET /pets?removed=true&limit=3
        < 200
        < link: (none)
        < [${removed("one", "four", "two")}]
      `,
    },
    {
      clause:
        "paging shows each animal that stays removed exactly once, although others are removed and restored",
      needs: ["a store that nobody else changes"],
      told: `
        ${ADDS_FOUR}
        ${adds("five", '{"name":"Rex","categoryId":{category}}')}
        ${adds("six", '{"name":"Rex","categoryId":{category}}')}
        ${removes("two", "three", "one", "four")}
        > GET /pets?removed=true&limit=2
        < 200
        < link: <{base}/{second}>; rel="next"
        < [${removed("four", "one")}]
        ${removes("five", "six")}
        > POST /pets/{one}/restore
        < 200
        > POST /pets/{three}/restore
        < 200
        > GET /{second}
        < 200
        < [${removed("two")},…]
        > GET /pets?removed=true&limit=4
        < 200
        < [${removed("six", "five", "four", "two")}]
      `,
    },
    {
      clause: "a restored animal is no longer in the list",
      needs: ["a store that nobody else changes"],
      told: `
        ${ADDS_FOUR}
        ${removes("two", "four", "one")}
        > POST /pets/{four}/restore
        < 200
        > GET /pets?removed=true&limit=2
        < 200
        < [${removed("one", "two")}]
      `,
    },
    {
      clause: "an animal whose name the operator has erased stays in the list as (removed)",
      needs: ["a store that nobody else changes"],
      told: `
        ${adds("rex", ERASED_REX)}
        ${removes("rex")}
        > GET /pets?removed=true&limit=1
        < 200
        < [{"id":{rex},"name":"(removed)",…}]
      `,
    },
    {
      clause: "an animal that is removed again is in the list once, as it was the last time",
      needs: ["a store that nobody else changes"],
      told: `
        ${adds("rex", '{"name":"Rex","categoryId":{category}}')}
        ${adds("max", '{"name":"Max","categoryId":{category}}')}
        ${removes("rex", "max")}
        > POST /pets/{rex}/restore
        < 200
        > PATCH /pets/{rex}
        > {"name":"Mia"}
        < 200
        < etag: "{tag}"
        ${removes("rex")}
        > GET /pets?removed=true&limit=2
        < 200
        < [{"id":{rex},"name":"Mia","categoryId":{category},"removedAt":"…Z","etag":"\\"{tag}\\""},{"id":{max},"name":"Max",…}]
      `,
    },
    {
      clause: "a page ends after 128 Ki characters, and Link leads to the rest",
      needs: ["a store that nobody else changes"],
      told: `
        ${ADDS_NINE}
        > GET /pets?categoryId={category}&order=asc&limit=100
        < 200
        < link: <{base}/{rest}>; rel="next"
        < ${FIRST_EIGHT}
        > GET /{rest}
        < 200
        < ${NINTH}
        ${removes("i", "h", "g", "f", "e", "d", "c", "b", "a")}
        > GET /pets?removed=true&limit=9
        < 200
        < link: <{base}/{second}>; rel="next"
        < ${FIRST_EIGHT}
        > GET /{second}
        < 200
        < [{"id":{i},…},…]
      `,
    },
    {
      clause: "removed=false lists the animals that are there",
      told: `
        ${adds("rex", '{"name":"Rex","categoryId":{category}}')}
        ${adds("max", '{"name":"Max","categoryId":{category}}')}
        ${removes("max")}
        > GET /pets?removed=false&categoryId={category}
        < 200
        < [{"id":{rex},"name":"Rex","categoryId":{category}}]
      `,
    },
    ...refusedQueries("/pets", [
      [
        "removed=true with a filter or an order gets 400",
        'Query parameter "removed" cannot be used with another filter or an order',
        ["ids=1", "status=sold", "categoryId=1", "name=a", "q=a", "order=desc"]
          .map((other) => `removed=true&${other}`),
      ],
      [
        "removed with another value gets 400",
        'Query parameter "removed" must be true or false',
        ["", "1", "TRUE"].map((value) => `removed=${value}`),
      ],
    ]),
  ],
};
