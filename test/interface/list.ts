import type { Section } from "./story.ts";

const PET = '{"id":…,"name":"…","categoryId":…,…}';

export const LIST: Section = {
  title: "4.1 List animals",
  contract: [
    {
      clause: "a list is a bare array of animals, at most 20 without a limit",
      told: `
        > GET /pets
        < 200
        < content-type: application/json…
        < [≤20 ${PET}]
      `,
    },
    ...[1, 2, 100].map((limit) => ({
      clause: `with limit=${limit}, a list has at most as many animals`,
      told: `
        > GET /pets?limit=${limit}
        < 200
        < [≤${limit} ${PET}]
      `,
    })),
    {
      clause: "an animal that was added is in a list, unless the limit leaves it out",
      needs: ["a store that nobody else changes"],
      told: `
        > POST /pets
        > {"name":"Rex","categoryId":{category},"status":"sold"}
        < 201
        < {"id":{rex},…}
        > GET /pets?limit=1&status=sold
        < 200
        < [{…}]
      `,
    },
    ...["available", "pending", "sold"].map((status) => ({
      clause: `with status=${status}, a list has only animals with that status`,
      told: `
        > POST /pets
        > {"name":"Rex","categoryId":{category},"status":"${status}"}
        < 201
        > GET /pets?status=${status}&limit=100
        < 200
        < [≤100 {"id":…,"name":"…","categoryId":…,"status":"${status}",…}]
      `,
    })),
  ],
  added: [],
};
