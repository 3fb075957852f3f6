import { errorOf, type Section, type Story } from "./story.ts";
import { adds } from "./told.ts";

const REX = adds("rex", '{"name":"Rex","categoryId":{category}}');

/** Lists that have the animal, with characters that need no encoding. */
const LISTS: [what: string, path: string][] = [
  ["the version", "/../%761/pets?categoryId={category}"],
  ["the collection", "/%70et%73?categoryId={category}"],
  ["the name of a parameter", "/pets?%63ategoryId={category}"],
  ["the value of a parameter", "/pets?categoryId={category}&limit=%31"],
];

const UNKNOWN_PATHS: [what: string, path: string][] = [
  ["an encoded slash", "/..%2Fpets"],
  ["an encoded slash after the version", "/../v1%2Fpets"],
  ["a character that is encoded twice", "/%2570ets"],
  ["an encoded zero", "/pets%00"],
  ["an encoded question mark", "/pets%3F"],
  ["an encoded character, that no path has", "/p%65t"],
  ["an encoded tilde, that no path has", "/%7Epets"],
];

export const ADDRESSES: Section = {
  title: "4 Addresses",
  contract: [],
  beyond: [
    {
      clause: "an addition means the same if its path is encoded, and its address is not",
      told: `
        > POST /../%761/%70et%73
        > {"name":"Rex","categoryId":{category}}
        < 201
        < location: {base}/pets/{rex}
        < {"id":{rex},"name":"Rex","categoryId":{category}}
      `,
    },
    {
      clause: "the parts of a path may be encoded: reads of one animal",
      told: `
        ${REX}
        > GET /%70ets/{rex}
        < 200
        < {"id":{rex},…}
        > GET /pets/{rex}/%65vents
        < 200
        < [{"type":"PetCreated","subject":"pets/{rex}",…}]
        > GET /%6Bey
        < 200
        > GET /%65vents?lastEventId=now
        < 200
      `,
    },
    {
      clause: "the digits of an id may be encoded",
      needs: ["an empty store"],
      told: `
        ${REX}
        > GET /pets/%31
        < 200
        < {"id":1,…}
        > PATCH /pets/%31
        > {"name":"Mia"}
        < 200
        > DELETE /pets/%31
        < 204
      `,
    },
    {
      clause: "the sign and the digits of the id of a category may be encoded",
      told: `
        > PUT /categories/{otherCategory}
        > {"name":"{word}"}
        < 201
        < location: {base}/categories/-{digit}{digits}
        > GET /categories/%2D%3{digit}{digits}
        < 200
        < {"id":{otherCategory},"name":"{word}"}
        > GET /categories/%2d%3{digit}{digits}/events
        < 200
        < [{"subject":"categories/{otherCategory}",…}]
        > PUT /categories/%2D{digit}{digits}
        > {"name":"{word} 2"}
        < 200
        < {"id":{otherCategory},"name":"{word} 2"}
        > DELETE /categories/-%3{digit}{digits}
        < 204
        > GET /categories/{otherCategory}
        < 404
      `,
    },
    ...LISTS.map(([what, path]): Story => ({
      clause: `a list means the same if ${what} is encoded`,
      told: `
        ${REX}
        > GET ${path}
        < 200
        < [{"id":{rex},…}]
      `,
    })),
    {
      clause: "the paths of the reference may be encoded, too",
      told: `
        > GET /../%64ocs
        > authorization: (none)
        < 200
        > GET /../openapi%2ejson
        > authorization: (none)
        < 200
      `,
    },
    ...UNKNOWN_PATHS.map(([what, path]): Story => ({
      clause: `a path with ${what} gets 404`,
      told: `
        > GET ${path}
        < 404
        < ${errorOf(404, "not_found", "The path does not exist: use …/pets, …")}
      `,
    })),
  ],
};
