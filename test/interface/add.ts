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
      ["whose name is a number", '{"name":7,"categoryId":7}'],
      ["whose category is a text", '{"name":"Rex","categoryId":"7"}'],
      ["whose category is a fraction", '{"name":"Rex","categoryId":1.5}'],
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
  beyond: [
    {
      clause: "an addition gets the address of the animal",
      told: `
        > POST /pets
        > {"name":"Rex","categoryId":{category}}
        < 201
        < location: {base}/pets/{rex}
        < {"id":{rex},"name":"Rex","categoryId":{category}}
      `,
    },
    {
      clause: "an addition gets the ETag with which the animal can be changed",
      told: `
        > POST /pets
        > {"name":"Rex","categoryId":{category}}
        < 201
        < etag: "{tag}"
        < {"id":{rex},…}
        > GET /pets?ids={rex}
        < 200
        < etag: "{tag}"
      `,
    },
    {
      clause: "the ids of animals are 1, 2, 3 … in the order of their additions",
      needs: ["an empty store"],
      told: [1, 2, 3].map((id) => `
        > POST /pets
        > {"name":"Rex","categoryId":{category}}
        < 201
        < {"id":${id},"name":"Rex","categoryId":{category}}
      `).join(""),
    },
    {
      clause: "an animal that was added without a status has none",
      told: `
        > POST /pets
        > {"name":"Rex","categoryId":{category}}
        < 201
        < {"id":{rex},"name":"Rex","categoryId":{category}}
        > GET /pets?ids={rex}
        < 200
        < [{"id":{rex},"name":"Rex","categoryId":{category}}]
      `,
    },
    {
      clause: "a note keeps its line breaks",
      told: String.raw`
        > POST /pets
        > {"name":"Rex","categoryId":{category},"note":" Shy.\r\n\nLikes \"Zoë\" 🐈\t"}
        < 201
        < {"id":{rex},"name":"Rex","categoryId":{category},"note":" Shy.\r\n\nLikes \"Zoë\" 🐈\t"}
        > GET /pets/{rex}
        < 200
        < {"id":{rex},"name":"Rex","categoryId":{category},"note":" Shy.\r\n\nLikes \"Zoë\" 🐈\t"}
      `,
    },
    {
      clause: "an integer may be written with a point or an exponent",
      told: ["7.0", "70e-1", "0.7E1"].map((category) => `
        > POST /pets
        > {"name":"Rex","categoryId":${category}}
        < 201
        < {"id":…,"name":"Rex","categoryId":7}
      `).join(""),
    },
    ...[
      ["control characters", String.raw`\u0000\u0001\u001f\u007f`],
      ["quotation marks and slashes", String.raw`\"\\/\/`],
      ["separators of lines", String.raw`\u2028\u2029`],
      ["a byte order mark and no characters", String.raw`\ufeff\ufffd\uffff`],
      ["accents in two forms", String.raw`e\u0301 é`],
      ["a mark of direction", String.raw`\u202e`],
      ["text of HTML", "</script>"],
      ["text of HTTP", String.raw`\r\nX-Injected: 1`],
      ["text of JSON", String.raw`\"name\": {[:`],
      ["the name of a part of each object", "__proto__"],
      ["a character in two escapes", String.raw`\ud83d\udc08`],
      ["a character of several", "👩‍🚀"],
      ["one space", " "],
      ["1,000 characters", "x".repeat(1_000)],
      ["1,000 characters of two code units", "🐈".repeat(1_000)],
    ].map(([what, name]) => ({
      clause: `a name is returned exactly: ${what}`,
      told: `
        > POST /pets
        > {"name":"${name}","categoryId":{category}}
        < 201
        < {"id":{rex},"name":"${name}","categoryId":{category}}
        > GET /pets/{rex}
        < 200
        < {"id":{rex},"name":"${name}","categoryId":{category}}
        > GET /pets?ids={rex}
        < 200
        < [{"id":{rex},"name":"${name}","categoryId":{category}}]
      `,
    })),
  ],
};
