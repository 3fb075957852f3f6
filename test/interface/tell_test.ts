import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { type Listener, tell } from "./tell.ts";
import { CLAUSES } from "./sections.ts";
import { type Need, stepsOf } from "./story.ts";

const BASE = "http://localhost/v1";

/** A service that always responds so, and the requests that it got. */
function listening(respond: () => Response) {
  const requests: Request[] = [];
  const happened: string[] = [];
  const send = (input: string, init?: RequestInit) => {
    requests.push(new Request(input, init));
    return Promise.resolve(respond());
  };
  const listener: Listener = {
    base: BASE,
    send: send as typeof fetch,
    key: "pets_1",
    readOnlyKey: "pets_2",
    has: [],
    happen: (words) => Promise.resolve(void happened.push(words)),
  };
  return { listener, requests, happened };
}

/** What is expected of a response, and whether it is so. */
const EXPECTATIONS: [expected: string, isSo: boolean][] = [
  ["< 200", true],
  ["< 201", false],
  ["< 200\n< a: 1", true],
  ["< 200\n< a: 2", false],
  ["< 200\n< a: (none)", false],
  ["< 200\n< b: (none)", true],
  ["< 200\n< b: 1", false],
  ["< 200\n< (none)", false],
  ['< 200\n< {"id":9007199254740993,"name":"7"}', true],
  ['< 200\n< {\n< "id": 9007199254740993,\n< "name": "7"\n< }', true],
  ['< 200\n< {"id":9007199254740992,"name":"7"}', false],
  ['< 200\n< {"id":9007199254740993,"name":7}', false],
  ['< 200\n< {"id":9007199254740993}', false],
  ['< 200\n< {"id":…,"name":"…","note":…}', false],
  ["< 200\n< a: {n}\n< …", true],
  ['< 200\n< a: {n}\n< {"id":{n},…}', false],
  ['< 200\n< a: {n}\n< {"name":"{n}",…}', false],
  ['< 200\n< a: {n}\n< {"name":"{m}",…}', true],
];

Deno.test("tell() finds each difference of status, headers and body", async () => {
  for (const [expected, isSo] of EXPECTATIONS) {
    const { listener } = listening(() =>
      new Response('{"id":9007199254740993,"name":"7"}', {
        headers: { a: "1", "content-type": "application/json" },
      })
    );
    const breach = await tell({ clause: "", told: `> GET /pets\n${expected}` }, listener);
    assertEquals(breach === undefined, isSo, expected);
  }
});

Deno.test("tell() says what was sent, expected and received, and tells nothing after it", async () => {
  const { listener, requests } = listening(() => new Response("7", { status: 409 }));
  const told = "> GET /pets/1\n> a: b\n< 200\n< c: d\n< []\n> GET /pets/2\n< 200";
  const breach = await tell({ clause: "", told }, listener);
  assertEquals(breach, {
    request: "GET /pets/1\na: b",
    expected: "200\nc: d\n[]",
    came: "409\ncontent-type: text/plain;charset=UTF-8\n7",
  });
  assertEquals(requests.length, 1);
});

Deno.test("tell() sends a key, unless the story names another or none, and what it knows", async () => {
  const { listener, requests, happened } = listening(() => new Response("rex"));
  const told = `
    > GET /pets
    < 200
    < {rex}
    ~ {rex} gets lost
    > POST /pets/{rex}
    > authorization: Bearer {readOnlyKey}
    > {"name":"{rex}"}
    < 200
    > POST /pets
    > authorization: (none)
    > content-type: text/plain
    > {rex}
    < 200
  `;
  assertEquals(await tell({ clause: "", told }, listener), undefined);
  assertEquals(happened, ["rex gets lost"]);
  const sent = await Promise.all(requests.map(async (request) => {
    const { headers, url } = request;
    const shown = ["authorization", "content-type"].map((name) => headers.get(name));
    return [url.slice(BASE.length), ...shown, await request.text()];
  }));
  assertEquals(sent, [
    ["/pets", "Bearer pets_1", null, ""],
    ["/pets/rex", "Bearer pets_2", "application/json", '{"name":"rex"}'],
    ["/pets", null, "text/plain", "rex"],
  ]);
});

Deno.test("tell() reads a compressed body, and compares what is not JSON as text", async () => {
  const bytes = new Blob(["a [b"]).stream().pipeThrough(new CompressionStream("gzip"));
  const compressed = await new Response(bytes).bytes();
  const { listener } = listening(() => new Response(compressed));
  const tellWith = (body: string) =>
    tell({ clause: "", told: `> GET /\n< 200\n< ${body}` }, listener);
  assertEquals(await tellWith("a […"), undefined);
  assertEquals((await tellWith("b…"))?.expected, "200\nb…");
});

Deno.test("two stories have other words, ids and keys of requests", async () => {
  const { listener, requests } = listening(() => new Response());
  const told = "> GET /{category}/{otherCategory}/{word}/{once}\n< 200";
  for (let time = 0; time < 2; time++) await tell({ clause: "", told }, listener);
  const parts = requests.flatMap(({ url }) => url.slice(BASE.length + 1).split("/"));
  assertEquals(new Set(parts).size, 8);
});

Deno.test("a text that is no story is a mistake", async () => {
  for (const told of ["GET /", "< 200", "> get /", "> GET pets", "~ it rains\n< 200"]) {
    assertThrows(() => stepsOf(told), Error, "Not a line of a story");
  }
  const { listener } = listening(() => new Response());
  const unknown = { clause: "", told: "> GET /{rex}\n< 200" };
  await assertRejects(() => tell(unknown, listener), Error, "{rex}");
});

Deno.test("a story in which something happens needs what lets it happen", () => {
  const lets: Need[] = ["a clock", "faults", "an operator"];
  for (const { name, needs = [], told } of CLAUSES) {
    const happens = stepsOf(told).some(({ kind }) => kind === "happening");
    assertEquals(happens, lets.some((need) => needs.includes(need)), name);
  }
});
