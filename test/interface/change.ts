import { NO_ID_OF_ANIMAL, NO_IDS } from "./no_ids.ts";
import { errorOf, type Section } from "./story.ts";
import { ADDS_REX } from "./told.ts";

const ACCEPTED = "application/merge-patch+json, application/json";
const STATUS = 'Field "status" must be one of available, pending, sold';
const INT64 =
  'Field "categoryId" must be an integer from -9223372036854775808 to 9223372036854775807';

export const CHANGE: Section = {
  title: "4.4 Change an animal",
  contract: [],
  beyond: [
    {
      clause: "a change gets the animal as it is now, as each read has it",
      told: `
        ${ADDS_REX}
        > PATCH /pets/{rex}
        > {"status":"sold"}
        < 200
        < etag: "{tag}"
        < {"id":{rex},"name":"Rex","categoryId":{category},"status":"sold"}
        > GET /pets/{rex}
        < 200
        < etag: "{tag}"
        < {"id":{rex},"name":"Rex","categoryId":{category},"status":"sold"}
        > GET /pets?categoryId={category}
        < 200
        < [{"id":{rex},"name":"Rex","categoryId":{category},"status":"sold"}]
      `,
    },
    {
      clause: "a change may name several fields, in any order",
      told: `
        ${ADDS_REX}
        > PATCH /pets/{rex}
        > { "categoryId": -9223372036854775808.0, "name": "Mia" }
        < 200
        < {"id":{rex},"name":"Mia","categoryId":-9223372036854775808,"status":"available"}
        > PATCH /pets/{rex}
        > {"status":"sold","note":"Shy","categoryId":9223372036854775807}
        < 200
        < {"id":{rex},"name":"Mia","categoryId":9223372036854775807,"status":"sold","note":"Shy"}
      `,
    },
    {
      clause: "null removes a field that an animal need not have",
      told: `
        > POST /pets
        > {"name":"Rex","categoryId":{category},"status":"sold","note":"Shy"}
        < 201
        < {"id":{rex},…}
        > PATCH /pets/{rex}
        > {"status":null}
        < 200
        < {"id":{rex},"name":"Rex","categoryId":{category},"note":"Shy"}
        > PATCH /pets/{rex}
        > {"note":null}
        < 200
        < {"id":{rex},"name":"Rex","categoryId":{category}}
      `,
    },
    {
      clause: "each status may become each other one",
      told: [
        ADDS_REX,
        ...["pending", "sold", "available", "sold", "pending", "available"].map((status) => `
          > PATCH /pets/{rex}
          > {"status":"${status}"}
          < 200
          < {"id":{rex},"name":"Rex","categoryId":{category},"status":"${status}"}
        `),
      ].join(""),
    },
    {
      clause: "a change to what the animal already is gets the animal, and adds no event",
      told: `
        ${ADDS_REX}
        > PATCH /pets/{rex}
        > {"status":"available","name":"Rex"}
        < 200
        < {"id":{rex},"name":"Rex","categoryId":{category},"status":"available"}
        > GET /pets/{rex}/events
        < 200
        < [{"type":"PetCreated",…}]
      `,
    },
    {
      clause: "a change is declared as a JSON Merge Patch or as JSON, in UTF-8",
      told: [
        ADDS_REX,
        ...[
          "application/merge-patch+json",
          "Application/Merge-Patch+JSON",
          "application/merge-patch+json; charset=utf-8",
          "application/json",
          "application/json; charset=UTF-8",
        ].map((type, index) => `
          > PATCH /pets/{rex}
          > content-type: ${type}
          > {"name":"Rex ${index}"}
          < 200
          < {"id":{rex},"name":"Rex ${index}","categoryId":{category},"status":"available"}
        `),
      ].join(""),
    },
    {
      clause: "a change in another media type gets 415 with those that are accepted",
      told: ["text/plain", "application/merge-patch+json; charset=latin1"].map((type) => `
        > PATCH /pets/{nobody}
        > content-type: ${type}
        > {"status":"sold"}
        < 415
        < accept-patch: ${ACCEPTED}
        < ${
        errorOf(
          415,
          "unsupported_media_type",
          "The Content-Type must be application/merge-patch+json or application/json, in UTF-8",
        )
      }
      `).join(""),
    },
    {
      clause: "a change without a media type gets 415 with those that are accepted",
      told: `
        > PATCH /pets/{nobody}
        > content-type: (none)
        > {"status":"sold"}
        < 415
        < accept-patch: ${ACCEPTED}
        < ${
        errorOf(
          415,
          "unsupported_media_type",
          "The Content-Type header is missing: send one JSON object as " +
            "application/merge-patch+json or application/json",
        )
      }
      `,
    },
    {
      clause: "a change that is no JSON object gets 400",
      told: `
        > PATCH /pets/{nobody}
        > [{"status":"sold"}]
        < 400
        < ${errorOf(400, "malformed_body", "The body must be one JSON object")}
      `,
    },
    {
      clause: "a change of no field gets 400",
      told: refused(
        ["{}"],
        "The body names no field to change: send any of name, categoryId, status, note…",
      ),
    },
    {
      clause: "a change of the id gets 400",
      told: refused(['{"id":1}'], 'Field "id" is assigned by the service: leave it out'),
    },
    {
      clause: "a change of an unknown field gets 400 with the fields that there are",
      told: ["colour", "__proto__", "Status"].map((name) =>
        refused(
          [`{"status":"sold","${name}":1}`],
          `Field "${name}" is not known; the fields are name, categoryId, status, note…`,
        )
      ).join(""),
    },
    {
      clause: "a change that repeats a field gets 400",
      told: refused(
        ['{"status":"sold","status":null}', String.raw`{"status":"sold","st\u0061tus":"sold"}`],
        'Field "status" is repeated',
      ),
    },
    {
      clause: "a change to null of a field that each animal has gets 400",
      told: refused(['{"name":null}'], 'Field "name" must be a string, or be left out') +
        refused(['{"categoryId":null}'], `${INT64}, or be left out`),
    },
    {
      clause: "a change to an invalid value gets 400",
      told: refused(['{"status":"lost"}', '{"status":1}'], `${STATUS}, or null`) +
        refused(['{"name":""}'], 'Field "name" must be 1 to 1000 characters long') +
        refused(
          [String.raw`{"name":"\ud83d"}`],
          'Field "name" must be well-formed Unicode, without a lone surrogate',
        ) +
        refused(['{"note":""}'], 'Field "note" must be 1 to 2000 characters long, or null') +
        refused(['{"categoryId":"7"}'], INT64),
    },
    {
      clause: "a change with several faults gets 400 with each of them",
      told: refused(
        ['{"name":1,"categoryId":null}'],
        `Field "name" must be a string; ${INT64}, or be left out`,
      ),
    },
    {
      clause: "a change of an animal that does not exist gets 404",
      told: `
        > PATCH /pets/{nobody}
        > {"status":"sold"}
        < 404
        < ${errorOf(404, "pet_not_found", "An animal with this identifier does not exist")}
      `,
    },
    {
      clause: "a change of an id that is none gets 404",
      told: NO_IDS.map((id) => `
        > PATCH /pets/${id}
        > {"status":"sold"}
        < 404
        < ${NO_ID_OF_ANIMAL}
      `).join(""),
    },
  ],
};

/** Each of these changes gets 400 with that message. */
function refused(patches: string[], message: string): string {
  return patches.map((patch) => `
    > PATCH /pets/{nobody}
    > ${patch}
    < 400
    < ${errorOf(400, "invalid_body", message)}
  `).join("");
}
