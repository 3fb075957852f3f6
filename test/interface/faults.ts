import { errorOf, type Section } from "./story.ts";

const REX = '{"name":"Rex","categoryId":{category}}';

const UNKNOWN =
  "The store gave no clear answer within 3500 ms, so it may or may not have been stored";

export const FAULTS: Section = {
  title: "7 Errors of a service that fails",
  contract: [],
  beyond: [
    {
      clause: "while the disk of the store is full, additions get 503 storage_full, and lists 200",
      needs: ["faults"],
      told: `
        ~ the disk is full
        > POST /pets
        > ${REX}
        < 503
        < retry-after: 1
        < ${errorOf(503, "storage_full", "The disk of the store is full, so nothing was stored")}
        > GET /pets?categoryId={category}
        < 200
        < []
        ~ all is well again
        > POST /pets
        > ${REX}
        < 201
      `,
    },
    {
      clause: "an addition that the store does not confirm gets 503 outcome_unknown",
      needs: ["faults"],
      told: `
        ~ the store confirms no write
        > POST /pets
        > ${REX}
        < 503
        < retry-after: 1
        < ${errorOf(503, "outcome_unknown", UNKNOWN)}
      `,
    },
    {
      clause: "an addition that was stored gets 201, although the store reported a failure",
      needs: ["faults"],
      told: `
        ~ the next write is stored, but reported as failed
        > POST /pets
        > ${REX}
        < 201
        < {"id":{rex},"name":"Rex","categoryId":{category}}
        > GET /pets?categoryId={category}
        < 200
        < [{"id":{rex},"name":"Rex","categoryId":{category}}]
      `,
    },
    {
      clause: "a request that needs a store that cannot be read gets 503 store_unavailable",
      needs: ["faults"],
      told: `
        ~ the store cannot be read
        > GET /pets
        < 503
        < retry-after: 1
        < ${errorOf(503, "store_unavailable", "The store failed to read")}
        ~ all is well again
        > GET /pets
        < 200
      `,
    },
    {
      clause: "while too many requests wait for a commit, an addition gets 503 overloaded",
      needs: ["faults"],
      told: `
        ~ too many requests wait for a commit
        > POST /pets
        > ${REX}
        < 503
        < retry-after: 1
        < ${errorOf(503, "overloaded", "Too many requests wait for a commit")}
      `,
    },
    {
      clause: "a request to a service that shuts down gets 503 shutting_down",
      needs: ["faults"],
      told: `
        ~ the service has closed its store
        > GET /pets
        < 503
        < retry-after: 1
        < ${errorOf(503, "shutting_down", "The service is shutting down")}
      `,
    },
    {
      clause: "a read of a damaged record gets 500 projection_damaged, which names the record",
      needs: ["faults", "an empty store"],
      told: `
        > POST /pets
        > ${REX}
        < 201
        ~ the record of animal 2 is damaged
        > GET /pets
        < 500
        < retry-after: (none)
        < ${errorOf(500, "projection_damaged", "The record of pet 2 is damaged")}
      `,
    },
    {
      clause: "an unexpected failure gets 500 internal_error, without any detail",
      needs: ["faults", "an empty store"],
      told: `
        > POST /pets
        > ${REX}
        < 201
        ~ the service fails unexpectedly
        > GET /pets
        < 500
        < retry-after: (none)
        < ${errorOf(500, "internal_error", "The service failed unexpectedly")}
      `,
    },
  ],
};
