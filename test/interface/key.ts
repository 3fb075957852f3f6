import type { Section } from "./story.ts";

export const KEY: Section = {
  title: "4.8 The API key",
  contract: [],
  beyond: [
    {
      clause: "the key of a request is described, with the label that the operator gave",
      told: `
        > GET /key
        < 200
        < content-type: application/json
        < {"id":"…","label":"…","readOnly":false,…}
      `,
    },
    {
      clause: "a key that does not end has no end, and its description no other member",
      needs: ["an empty store"],
      told: `
        > GET /key
        < 200
        < {"id":"…","label":"…","readOnly":false}
      `,
    },
    {
      clause: "a key that may only read says so",
      needs: ["a read-only key"],
      told: `
        > GET /key
        > authorization: Bearer {readOnlyKey}
        < 200
        < {"id":"…","label":"…","readOnly":true,…}
      `,
    },
    {
      clause: "the ETag of a key changes if the key gets an end",
      needs: ["a read-only key", "an operator"],
      told: `
        > GET /key
        > authorization: Bearer {readOnlyKey}
        < 200
        < etag: "{tag}"
        ~ the read-only key is replaced, and valid for 24 hours more
        > GET /key
        > authorization: Bearer {readOnlyKey}
        > if-none-match: "{tag}"
        < 200
        < etag: "{otherTag}"
        < {"id":"…","label":"…","readOnly":true,"expiresAt":"…"}
      `,
    },
    {
      clause: "two keys have two ids",
      needs: ["a read-only key"],
      told: `
        > GET /key
        < 200
        < {"id":"{one}",…}
        > GET /key
        > authorization: Bearer {readOnlyKey}
        < 200
        < {"id":"{other}",…}
      `,
    },
  ],
};
