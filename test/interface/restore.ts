import { NO_ID_OF_ANIMAL, NO_IDS } from "./no_ids.ts";
import { errorOf, type Section } from "./story.ts";
import { adds, ERASED_REX, NOT_REMOVED } from "./told.ts";

const SOLD_AND_REMOVED = `
  > POST /pets
  > {"name":"Rex","categoryId":{category},"status":"available"}
  < 201
  < {"id":{rex},…}
  > PATCH /pets/{rex}
  > {"status":"sold"}
  < 200
  < etag: "{tag}"
  > DELETE /pets/{rex}
  < 204
`;

const SOLD = '{"id":{rex},"name":"Rex","categoryId":{category},"status":"sold"}';

export const RESTORE: Section = {
  title: "4.16 Restore a removed animal",
  contract: [],
  beyond: [
    {
      clause: "a restore gets the animal as it was, with its id and its ETag",
      told: `
        ${SOLD_AND_REMOVED}
        > POST /pets/{rex}/restore
        < 200
        < etag: "{tag}"
        < ${SOLD}
      `,
    },
    {
      clause: "a restored animal is in each read again",
      told: `
        ${SOLD_AND_REMOVED}
        > POST /pets/{rex}/restore
        < 200
        > GET /pets/{rex}
        < 200
        < etag: "{tag}"
        < ${SOLD}
        > GET /pets?categoryId={category}&status=sold
        < 200
        < [${SOLD}]
        > GET /pets?ids={rex}
        < 200
        < [${SOLD}]
      `,
    },
    {
      clause: "a restored animal has its history, with the restore",
      told: `
        ${SOLD_AND_REMOVED}
        > POST /pets/{rex}/restore
        < 200
        > GET /pets/{rex}/events
        < 200
        < [
        < {"type":"PetRestored","data":${SOLD},…},
        < {"type":"PetRemoved",…},
        < {"type":"PetUpdated",…},
        < {"type":"PetCreated",…}
        < ]
      `,
    },
    {
      clause: "a restored animal can be changed, removed and restored again",
      told: `
        ${SOLD_AND_REMOVED}
        > POST /pets/{rex}/restore
        < 200
        > PATCH /pets/{rex}
        > {"status":null}
        < 200
        > DELETE /pets/{rex}
        < 204
        > POST /pets/{rex}/restore
        < 200
        < {"id":{rex},"name":"Rex","categoryId":{category}}
      `,
    },
    {
      clause: "a restore of an animal that is there gets 409",
      told: `
        > POST /pets
        > {"name":"Rex","categoryId":{category}}
        < 201
        < {"id":{rex},…}
        > POST /pets/{rex}/restore
        < 409
        < ${NOT_REMOVED}
      `,
    },
    {
      clause: "a second restore gets 409",
      told: `
        ${SOLD_AND_REMOVED}
        > POST /pets/{rex}/restore
        < 200
        > POST /pets/{rex}/restore
        < 409
        < ${NOT_REMOVED}
      `,
    },
    ...[
      ["name", ERASED_REX],
      ["note", '{"name":"Rex","categoryId":{category},"note":"(removed)"}'],
    ].map(([what, body]) => ({
      clause: `a restore of an animal whose ${what} the operator has erased gets 409`,
      told: `
        ${adds("rex", body)}
        > DELETE /pets/{rex}
        < 204
        > POST /pets/{rex}/restore
        < 409
        < ${
        errorOf(
          409,
          "pet_erased",
          "The operator has erased personal data of the animal, so it cannot be restored",
        )
      }
      `,
    })),
    {
      clause: "a restore of an animal that never was gets 404",
      told: `
        > POST /pets/{nobody}/restore
        < 404
        < ${errorOf(404, "pet_not_found", "An animal with this identifier does not exist")}
      `,
    },
    {
      clause: "a restore of an id that is none gets 404",
      told: NO_IDS.map((id) => `
        > POST /pets/${id}/restore
        < 404
        < ${NO_ID_OF_ANIMAL}
      `).join(""),
    },
  ],
};
