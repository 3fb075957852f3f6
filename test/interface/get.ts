import { NO_ID_OF_ANIMAL, NO_IDS } from "./no_ids.ts";
import { errorOf, refusal, type Section } from "./story.ts";

/** RFC 9745 has the first header, RFC 8594 the second one. */
const DEPRECATED = `
  < deprecation: @…
  < sunset: Thu, 05 Dec 2030 00:00:00 GMT
  < link: <{base}/pets?{filter}>; rel="successor-version"
`;

export const GET: Section = {
  title: "4.3 Get an animal",
  contract: [
    {
      clause: "an animal is read by its id, as it was added",
      told: `
        > POST /pets
        > {"name":"Rex","categoryId":{category},"status":"sold"}
        < 201
        < {"id":{rex},…}
        > GET /pets/{rex}
        < 200
        < content-type: application/json…
        < {"id":{rex},"name":"Rex","categoryId":{category},"status":"sold"}
      `,
    },
    {
      clause: "an id that no animal has gets 404",
      told: `
        > GET /pets/{nobody}
        < 404
        < content-type: application/json…
        < ${refusal(404)}
      `,
    },
  ],
  beyond: [
    {
      clause: "a read says that the operation is deprecated, when it ends and what replaces it",
      told: `
        > POST /pets
        > {"name":"Rex","categoryId":{category},"status":"available"}
        < 201
        < etag: "{tag}"
        < {"id":{rex},…}
        > GET /pets/{rex}
        < 200
        ${DEPRECATED}
        > GET /pets/{rex}
        > if-none-match: "{tag}"
        < 304
        ${DEPRECATED}
        > GET /pets/{nobody}
        < 404
        ${DEPRECATED}
        > GET /pets/secret
        < 404
        ${DEPRECATED}
        > GET /pets?{filter}
        < 200
        < [≤20 {"status":"available",…}]
      `,
    },
    ...["9223372036854775807", "9223372036854775808", "0", "-1"].map((id) => ({
      clause: `the id ${id} of no animal gets 404`,
      told: `
        > GET /pets/${id}
        < 404
        < ${errorOf(404, "pet_not_found", "An animal with this identifier does not exist")}
      `,
    })),
    {
      clause: "an id that is no integer, or not in its shortest form, gets 404",
      told: NO_IDS.map((id) => `
        > GET /pets/${id}
        < 404
        < ${NO_ID_OF_ANIMAL}
      `).join(""),
    },
  ],
};
