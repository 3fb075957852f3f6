import { errorOf, type Section, type Story } from "./story.ts";

const READ = "GET, HEAD, OPTIONS";
const WRITE = "POST, OPTIONS";

/** Each path, with the methods that it supports. */
export const METHODS: [path: string, allow: string][] = [
  ["/pets", "GET, HEAD, POST, OPTIONS"],
  ["/pets/summary", READ],
  ["/pets/batch", WRITE],
  ["/pets/{nobody}", "GET, HEAD, PATCH, DELETE, OPTIONS"],
  ["/pets/{nobody}/restore", WRITE],
  ["/pets/{nobody}/events", READ],
  ["/categories", READ],
  ["/categories/counts", READ],
  ["/categories/{category}", "GET, HEAD, PUT, DELETE, OPTIONS"],
  ["/categories/{category}/events", READ],
  ["/events", READ],
  ["/key", READ],
  ["/webhooks", "GET, HEAD, POST, OPTIONS"],
  ["/webhooks/{nobody}", "GET, HEAD, PATCH, DELETE, OPTIONS"],
  ["/webhooks/{nobody}/secret", WRITE],
  ["/webhooks/{nobody}/resume", WRITE],
  ["/webhooks/{nobody}/attempts", "GET, HEAD, POST, OPTIONS"],
];

const ALL = ["GET", "POST", "PUT", "PATCH", "DELETE"];

const of = ([path, allow]: [path: string, allow: string]): Story => ({
  clause: `${path} has the methods ${allow}, and no others`,
  told: `
    > OPTIONS ${path}
    < 204
    < allow: ${allow}
    < (none)
    ${
    ALL.filter((method) => !allow.includes(method)).map((method) => `
    > ${method} ${path}
    < 405
    < allow: ${allow}
    < ${errorOf(405, "method_not_allowed", `The path supports only ${allow}`)}
    `).join("")
  }
  `,
});

/** An animal that was changed, and a category. */
const SOME = `
  > POST /pets
  > {"name":"Rex","categoryId":{category}}
  < 201
  < {"id":{rex},…}
  > PATCH /pets/{rex}
  > {"name":"Mia"}
  < 200
  > PUT /categories/{category}
  > {"name":"{word}"}
  < 201
`;

const HEADS: string[] = [
  "/pets?categoryId={category}",
  "/pets/{rex}",
  "/pets/{rex}/events?limit=1",
  "/categories/{category}",
  "/categories/{category}/events",
  "/key",
];

const FAILED_HEADS: [path: string, status: number][] = [
  ["/pets?limit=0", 400],
  ["/nothing", 404],
  ["/pets/{nobody}/events", 404],
  ["/pets/batch", 405],
];

export const METHODS_OF_PATHS: Section = {
  title: "4 Methods",
  contract: [],
  beyond: [
    ...METHODS.map(of),
    {
      clause: "OPTIONS names the types of a change",
      told: `
        > OPTIONS /pets/{nobody}
        < 204
        < accept-patch: application/merge-patch+json, application/json
        > OPTIONS /pets
        < 204
        < accept-patch: (none)
      `,
    },
    ...HEADS.map((path): Story => ({
      clause: `HEAD of ${path} has the headers of GET`,
      told: `
        ${SOME}
        > GET ${path}
        < 200
        < content-type: {type}
        < etag: "{tag}"
        < cache-control: {cache}
        > HEAD ${path}
        < 200
        < content-type: {type}
        < etag: "{tag}"
        < cache-control: {cache}
      `,
    })),
    {
      clause: "HEAD has the Link header of GET",
      told: `
        ${SOME}
        > GET /pets/{rex}/events?limit=1
        < 200
        < link: {link}
        > HEAD /pets/{rex}/events?limit=1
        < 200
        < link: {link}
      `,
    },
    {
      clause: "HEAD of an animal says that its read is deprecated",
      told: `
        ${SOME}
        > GET /pets/{rex}
        < 200
        < deprecation: {deprecation}
        < sunset: {sunset}
        < link: {link}
        > HEAD /pets/{rex}
        < 200
        < deprecation: {deprecation}
        < sunset: {sunset}
        < link: {link}
        > HEAD /pets/{nobody}
        < 404
        < content-type: application/json
        < deprecation: {deprecation}
        < sunset: {sunset}
        < link: {link}
      `,
    },
    ...FAILED_HEADS.map(([path, status]): Story => ({
      clause: `HEAD of ${path} gets ${status}, as GET does`,
      told: `
        > GET ${path}
        < ${status}
        < content-type: application/json
        > HEAD ${path}
        < ${status}
        < content-type: application/json
      `,
    })),
    {
      clause: "HEAD without a key gets 401 with the scheme of the key",
      told: `
        > HEAD /pets
        > authorization: (none)
        < 401
        < www-authenticate: Bearer
      `,
    },
  ],
};
