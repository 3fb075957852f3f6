import { refusal, type Section } from "./story.ts";

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
        > GET /pets/9223372036854775807
        < 404
        < content-type: application/json…
        < ${refusal(404)}
      `,
    },
  ],
  added: [],
};
