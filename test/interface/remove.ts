import { NO_ID_OF_ANIMAL, NO_IDS } from "./no_ids.ts";
import { errorOf, type Section } from "./story.ts";
import { ADDS_REX, GONE } from "./told.ts";

const REMOVED = `
  > DELETE /pets/{rex}
  < 204
`;

export const REMOVE: Section = {
  title: "4.6 Remove an animal",
  contract: [],
  beyond: [
    {
      clause: "a removal gets 204 and no body",
      told: `
        ${ADDS_REX}
        > DELETE /pets/{rex}
        < 204
        < etag: (none)
        < (none)
      `,
    },
    {
      clause: "a removed animal cannot be read, changed or removed",
      told: `
        ${ADDS_REX}
        ${REMOVED}
        > GET /pets/{rex}
        < 404
        < ${GONE}
        > PATCH /pets/{rex}
        > {"status":"sold"}
        < 404
        < ${GONE}
        > DELETE /pets/{rex}
        < 404
        < ${GONE}
      `,
    },
    {
      clause: "a removed animal is in no list",
      told: `
        > POST /pets
        > {"name":"{word}","categoryId":{category},"status":"sold"}
        < 201
        < {"id":{rex},…}
        > POST /pets
        > {"name":"{word}","categoryId":{category},"status":"sold"}
        < 201
        < {"id":{max},…}
        > GET /pets?categoryId={category}
        < 200
        < [{"id":{max},…},{"id":{rex},…}]
        ${REMOVED}
        > GET /pets?categoryId={category}
        < 200
        < [{"id":{max},…}]
        > GET /pets?categoryId={category}&status=sold
        < 200
        < [{"id":{max},…}]
        > GET /pets?name={word}
        < 200
        < [{"id":{max},…}]
        > GET /pets?ids={rex},{max}
        < 200
        < [{"id":{max},…}]
      `,
    },
    {
      clause: "a removed animal is not in the list of all animals, nor in that of a status",
      needs: ["an empty store"],
      told: `
        ${ADDS_REX}
        ${REMOVED}
        > GET /pets
        < 200
        < x-total-count: 0
        < []
        > GET /pets?status=available
        < 200
        < x-total-count: 0
        < []
      `,
    },
    {
      clause: "the id of a removed animal is not given again",
      told: `
        ${ADDS_REX}
        ${REMOVED}
        > POST /pets
        > {"name":"Rex","categoryId":{category},"status":"available"}
        < 201
        < {"id":{other},…}
      `,
    },
    {
      clause: "the body of a removal is ignored",
      told: `
        ${ADDS_REX}
        > DELETE /pets/{rex}
        > {
        < 204
      `,
    },
    {
      clause: "a removal with a body of more than 64 KiB gets 413",
      // HAProxy refuses it in other words.
      needs: ["no proxy"],
      told: `
        > DELETE /pets/{nobody}
        > ${"x".repeat(65_537)}
        < 413
        < ${errorOf(413, "body_too_large", "The body is larger than 65536 bytes")}
      `,
    },
    {
      clause: "a removal of an animal that does not exist gets 404",
      told: ["9223372036854775807", "9223372036854775808", "-1"].map((id) => `
        > DELETE /pets/${id}
        < 404
        < ${GONE}
      `).join(""),
    },
    {
      clause: "a removal of an id that is none gets 404",
      told: NO_IDS.map((id) => `
        > DELETE /pets/${id}
        < 404
        < ${NO_ID_OF_ANIMAL}
      `).join(""),
    },
  ],
};
