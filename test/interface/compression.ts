import type { Section } from "./story.ts";
import { addsAll } from "./told.ts";

/** Adds an animal of which a list has more than 1 KiB. */
const LONG = `
  > POST /pets
  > {"name":"${"x".repeat(1_000)}","categoryId":{category}}
  < 201
  < {"id":{rex},…}
`;

const BODY = `[{"id":{rex},"name":"${"x".repeat(1_000)}","categoryId":{category}}]`;

/** The names of two categories that end so have more than 1 KiB in JSON. */
const LONG_NAME = String.raw`\u0001`.repeat(85);

/** A list in gzip has an ETag of its own, also where a client hides the encoding. */
export const COMPRESSION: Section = {
  title: "4.1 Compression",
  contract: [],
  beyond: [
    ...["gzip", "br, GZIP;q=0.5", "*"].map((accepted) => ({
      clause: `a list of 1 KiB and more is compressed for a client that accepts ${accepted}`,
      told: `
        ${LONG}
        > GET /pets?categoryId={category}
        > accept-encoding: ${accepted}
        < 200
        < etag: "…-gzip"
        < vary: …accept-encoding…
        < ${BODY}
      `,
    })),
    {
      clause: "a list is not compressed for a client that does not accept or prefer gzip",
      told: `
        ${LONG}
        > GET /pets?categoryId={category}
        > accept-encoding: identity
        < 200
        < etag: "{tag}"
        < vary: …accept-encoding…
        < ${BODY}
        ${
        ["br", "gzip;q=0", "identity, gzip;q=0.5"].map((accepted) => `
          > GET /pets?categoryId={category}
          > accept-encoding: ${accepted}
          < 200
          < etag: "{tag}"
          < ${BODY}
        `).join("")
      }
      `,
    },
    {
      clause: "a list that is short, and the read of an animal, are not compressed",
      told: `
        ${LONG}
        > GET /pets/{rex}
        < 200
        < etag: "{tag}"
        > GET /pets/{rex}
        > accept-encoding: gzip
        < 200
        < etag: "{tag}"
        > GET /pets?categoryId={otherCategory}
        < 200
        < etag: "{page}"
        < []
        > GET /pets?categoryId={otherCategory}
        > accept-encoding: gzip
        < 200
        < etag: "{page}"
      `,
    },
    {
      clause: "the ETag of a list in gzip is that of the list with -gzip",
      told: `
        ${LONG}
        > GET /pets?categoryId={category}
        < 200
        < etag: "{tag}"
        > GET /pets?categoryId={category}
        > accept-encoding: gzip
        < 200
        < etag: "{tag}-gzip"
      `,
    },
    {
      clause: "the ETag of a list gets 304 in each encoding, whichever it had",
      told: `
        ${LONG}
        > GET /pets?categoryId={category}
        < 200
        < etag: "{tag}"
        ${
        ['"{tag}"', '"{tag}-gzip"'].map((held) => `
          > GET /pets?categoryId={category}
          > if-none-match: ${held}
          < 304
          < etag: "{tag}"
          > GET /pets?categoryId={category}
          > accept-encoding: gzip
          > if-none-match: ${held}
          < 304
          < etag: "{tag}-gzip"
        `).join("")
      }
      `,
    },
    {
      clause: "the list of categories is compressed, too",
      told: `
        > PUT /categories/{category}
        > {"name":"{word} ${LONG_NAME}"}
        < 201
        > PUT /categories/{otherCategory}
        > {"name":"{word} 2 ${LONG_NAME}"}
        < 201
        > GET /categories
        > accept-encoding: gzip
        < 200
        < etag: "…-gzip"
        < vary: …accept-encoding…
        < [… ,{"id":{category},"name":"{word} ${LONG_NAME}"},…]
      `,
    },
    {
      clause: "the counts of categories are compressed, too",
      told: `
        ${
        addsAll(
          Array.from({ length: 60 }, (_, index) => `{"name":"Rex","categoryId":${1_000 + index}}`),
        )
      }
        > GET /categories/counts
        > accept-encoding: gzip
        < 200
        < etag: "…-gzip"
        < vary: …accept-encoding…
      `,
    },
    {
      clause: "the history of an animal is compressed, too",
      told: `
        ${LONG}
        > GET /pets/{rex}/events
        > accept-encoding: gzip
        < 200
        < etag: "…-gzip"
        < vary: …accept-encoding…
        < [{"type":"PetCreated",…}]
      `,
    },
  ],
};
