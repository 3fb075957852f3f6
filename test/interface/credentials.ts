import { refusal, type Section, type Story } from "./story.ts";

const OPERATIONS = [
  ["listPets", "GET /pets", ""],
  ["createPet", "POST /pets", '> {"name":"Rex","categoryId":7}'],
  ["getPet", "GET /pets/1", ""],
];

const CREDENTIALS_OF_NOBODY = [
  ["without a key", "(none)"],
  ["with a key that is not known", "Bearer nobody"],
  ["with the key in another scheme", "Basic {key}"],
  ["with the key alone", "{key}"],
];

const refusalsOf = ([operation, request, body]: string[]): Story[] =>
  CREDENTIALS_OF_NOBODY.map(([what, value]) => ({
    clause: `${operation} ${what} gets 401`,
    told: `
      > ${request}
      > authorization: ${value}
      ${body}
      < 401
      < content-type: application/json…
      < ${refusal(401)}
    `,
  }));

export const CREDENTIALS: Section = {
  title: "5 Authentication",
  contract: OPERATIONS.flatMap(refusalsOf),
  added: [],
};
