import { refusal, type Section } from "./story.ts";

export const ADD: Section = {
  title: "4.2 Add an animal",
  contract: [
    {
      clause: "an addition gets 201 and the animal, with an id that the service has assigned",
      told: `
        > POST /pets
        > {"name":"Rex","categoryId":{category},"status":"available"}
        < 201
        < content-type: application/json…
        < {"id":{rex},"name":"Rex","categoryId":{category},"status":"available"}
      `,
    },
    {
      clause: "each animal has an id of its own, also one that is like another",
      told: `
        > POST /pets
        > {"name":"Rex","categoryId":{category}}
        < 201
        < {"id":{rex},…}
        > POST /pets
        > {"name":"Rex","categoryId":{category}}
        < 201
        < {"id":{other},…}
      `,
    },
    ...["available", "pending", "sold"].map((status) => ({
      clause: `the status may be ${status}`,
      told: `
        > POST /pets
        > {"name":"Rex","categoryId":{category},"status":"${status}"}
        < 201
        < {"id":{rex},"name":"Rex","categoryId":{category},"status":"${status}"}
        > GET /pets/{rex}
        < 200
        < {"id":{rex},"name":"Rex","categoryId":{category},"status":"${status}"}
      `,
    })),
    {
      clause: "the status is optional",
      told: `
        > POST /pets
        > {"name":"Rex","categoryId":{category}}
        < 201
        < {"id":{rex},"name":"Rex","categoryId":{category},…}
      `,
    },
    ...["9223372036854775807", "-9223372036854775808", "9007199254740993", "0"].map((category) => ({
      clause: `categoryId is an int64, exact in both directions: ${category}`,
      told: `
        > POST /pets
        > {"name":"Rex","categoryId":${category}}
        < 201
        < {"id":{rex},"name":"Rex","categoryId":${category},…}
        > GET /pets/{rex}
        < 200
        < {"id":{rex},"name":"Rex","categoryId":${category},…}
      `,
    })),
    {
      clause: "a name keeps each character",
      told: String.raw`
        > POST /pets
        > {"name":" Zoë \"Bello\"\n🐈 ","categoryId":{category}}
        < 201
        < {"id":{zoe},"name":" Zoë \"Bello\"\n🐈 ",…}
        > GET /pets/{zoe}
        < 200
        < {"id":{zoe},"name":" Zoë \"Bello\"\n🐈 ",…}
      `,
    },
    ...[
      ["without a name", '{"categoryId":7}'],
      ["without a category", '{"name":"Rex"}'],
      ["with a name that is no text", '{"name":7,"categoryId":7}'],
      ["with a category that is no number", '{"name":"Rex","categoryId":"7"}'],
      ["with a category that is no integer", '{"name":"Rex","categoryId":1.5}'],
      ["with a category beyond an int64", '{"name":"Rex","categoryId":9223372036854775808}'],
      ["with another status", '{"name":"Rex","categoryId":7,"status":"Available"}'],
      ["with a list", '[{"name":"Rex","categoryId":7}]'],
      ["that is not JSON", '{"name":"Rex","categoryId":7'],
    ].map(([what, body]) => ({
      clause: `an addition ${what} gets 400`,
      told: `
        > POST /pets
        > ${body}
        < 400
        < ${refusal(400)}
      `,
    })),
  ],
  added: [],
};
