import { METHODS } from "./methods.ts";
import { errorOf, type Section, type Story } from "./story.ts";

/** The question of a browser whether a script may send a request. */
const PREFLIGHT = `
  > authorization: (none)
  > origin: https://not-named-by-the-operator.example
  > access-control-request-method: POST
  > access-control-request-headers: authorization,content-type
`;

const NOT_SHARED = `
  < access-control-allow-origin: (none)
  < access-control-allow-methods: (none)
  < access-control-allow-headers: (none)
  < access-control-expose-headers: (none)
  < access-control-max-age: (none)
`;

const MISSING = errorOf(
  401,
  "missing_credentials",
  "An API key is required: Authorization: Bearer <API_KEY>",
);

export const CROSS_ORIGIN: Section = {
  title: "4 Scripts of other origins",
  contract: [],
  beyond: [
    ...METHODS.map(([path, allow]): Story => ({
      clause: `a preflight of ${path} needs no key, and an unknown origin may send nothing`,
      told: `
        > OPTIONS ${path}
        ${PREFLIGHT}
        < 204
        < allow: ${allow}
        ${NOT_SHARED}
        < (none)
      `,
    })),
    {
      clause: "a preflight of a path that does not exist gets 401",
      told: `
        > OPTIONS /nothing
        ${PREFLIGHT}
        < 401
        ${NOT_SHARED}
        < ${MISSING}
      `,
    },
    ...[
      ["without an origin", "> access-control-request-method: POST"],
      ["without the method to ask for", "> origin: https://not-named-by-the-operator.example"],
    ].map(([what, header]): Story => ({
      clause: `OPTIONS ${what} is no preflight, and needs a key`,
      told: `
        > OPTIONS /pets
        > authorization: (none)
        ${header}
        < 401
        < ${MISSING}
      `,
    })),
    {
      clause: "OPTIONS of a path that needs no key needs none",
      told: `
        > OPTIONS /../healthz
        > authorization: (none)
        < 204
        < allow: GET, HEAD, OPTIONS
      `,
    },
    {
      clause: "a read by a script of an unknown origin is not shared with it",
      told: `
        > GET /pets
        > origin: https://not-named-by-the-operator.example
        < 200
        ${NOT_SHARED}
      `,
    },
    {
      clause: "an error is not shared with a script of an unknown origin",
      told: `
        > GET /pets
        > authorization: (none)
        > origin: https://not-named-by-the-operator.example
        < 401
        ${NOT_SHARED}
      `,
    },
    {
      clause: "if no origin is shared with, no response depends on it",
      needs: ["an empty store"],
      told: `
        > OPTIONS /pets
        ${PREFLIGHT}
        < 204
        < vary: (none)
        > GET /pets
        > origin: https://not-named-by-the-operator.example
        < 200
        < vary: accept-encoding
      `,
    },
  ],
};
