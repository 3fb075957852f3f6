import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { rewriteSource, UnwrittenError } from "./rewrite_source.ts";
import { stepsOf, type Story } from "./story.ts";
import { heard, type Listener, tell } from "./tell.ts";
import { corrected } from "./corrected.ts";
import { changesOf } from "./update.ts";

const KNOWN = new Map([["base", "http://localhost/v1"], ["rex", "1234"]]);

/** What a story expects, what came, and the corrected expectation. */
const CORRECTIONS: [expected: string, came: string, now: string][] = [
  ['{"id":{rex},"name":"…"}', '{"id":1234,"name":"Rex"}', '{"id":{rex},"name":"…"}'],
  ['{"id":{rex},"name":"Max"}', '{"id":1234,"name":"Rex"}', '{"id":{rex},"name":"Rex"}'],
  ['{ "a": 1, "b": … }', '{"a":2,"b":3}', '{ "a": 2, "b": … }'],
  ['{"a":1,"b":2}', '{"b":2}', '{"b":2}'],
  ['{"a":1}', '{"a":1,"b":"1234"}', '{"a":1,"b":"{rex}"}'],
  ['{"a":1,…}', '{"a":2,"b":3}', '{"a":2,…}'],
  ['{"a":{"b":1,"c":[…]}}', '{"a":{"b":2,"c":[3]}}', '{"a":{"b":2,"c":[…]}}'],
  ["[1,2]", "[1,3]", "[1,3]"],
  ["[1]", "[1,9007199254740993]", "[1,9007199254740993]"],
  ["[1,2]", "[1]", "[1]"],
  ['[…,{"id":…,"n":1}]', '[{},{"id":7,"n":2}]', '[…,{"id":…,"n":2}]'],
  ['[{"n":1},…]', '[{"n":2},{}]', '[{"n":2},…]'],
  ['[≤1 {"id":…}]', '[{"id":1},{"id":2}]', '[≤2 {"id":…}]'],
  ['[≤2 {"id":…}]', '[{"id":1,"a":1}]', '[≤2 {"id":…,"a":1}]'],
  ["[]", "{}", "{}"],
  ["(none)", "[7]", "[7]"],
  ["[7]", "", "(none)"],
];

Deno.test("corrected() changes what differs, and keeps the names and the … that are still right", () => {
  const json = new Headers({ "content-type": "application/json" });
  for (const [body, came, now] of CORRECTIONS) {
    const expected = { status: 200, headers: [], body, lines: [0, 1] as [number, number] };
    const answer = { status: 200, headers: json, body: came };
    const result = corrected(expected, answer, KNOWN);
    assertEquals(result.body, now, body);
    assertEquals(heard(result, answer, KNOWN) === undefined, false, body);
  }
});

Deno.test("corrected() changes a status and the headers that a story names", () => {
  const headers: [string, string][] = [["a", "1…"], ["b", "(none)"], ["c", "2"], ["d", "3"]];
  const expected = { status: 200, headers, lines: [0, 1] as [number, number] };
  const came = new Headers({ a: "123", b: "http://localhost/v1/pets", d: "4", e: "5" });
  const result = corrected(expected, { status: 201, headers: came, body: "7" }, KNOWN);
  const now = [["a", "1…"], ["b", "{base}/pets"], ["c", "(none)"], ["d", "4"]];
  assertEquals([result.status, result.headers, result.body], [201, now, undefined]);
});

const ADDS = "  > POST /pets\n  > {}\n  < 201";

/** The source of a section. `story` is what it tells. */
const SOURCE = String.raw`
export const SECTION = {
  beyond: [
    {
      clause: "the first",
      told: ${"`"}
        $${"{ADDS}"}
        > GET /pets
        < 200
        < etag: "{tag}"
        < $${"{refusal({ status: 404, text: `}` })}"}
        < {"name":"\\n"}
      ${"`"},
    },
    {
      clause: 'the "second"',
      told: String.raw${"`"}
        > GET /pets
        < 200
        < "\n"
      ${"`"},
    },
    ...[1, 2].map((n) => ({ clause: ${"`number ${n}`"}, told: "" })),
    { clause: "the last", told: [1, 2].map((n) => ${"`> GET /${n}`"}).join("") },
  ],
};
`;

const FIRST = {
  clause: "the first",
  told: `
        ${ADDS}
        > GET /pets
        < 200
        < etag: "{tag}"
        < {"status":404}
        < {"name":"\\n"}
      `,
};

const SECOND = {
  clause: 'the "second"',
  told: '\n        > GET /pets\n        < 200\n        < "\\n"\n      ',
};

/** The lines of a text that are not in another one. */
function newLines(text: string, other: string): string[] {
  return text.split("\n").filter((line) => !other.split("\n").includes(line));
}

Deno.test("rewriteSource() replaces only the lines that differ", () => {
  const { expected: { lines } } = lastExchange(FIRST);
  const texts = ["200", 'etag: "{tag}"', '{"status":404}', '{"name":"`${a}\\t"}'];
  const result = rewriteSource(SOURCE, FIRST, [{ lines, texts }]);
  assertEquals(newLines(result, SOURCE), ['        < {"name":"\\`\\${a}\\\\t"}']);
  assertEquals(newLines(SOURCE, result), ['        < {"name":"\\\\n"}']);

  const made = ["200", 'etag: "{tag}"', '{"status":410}', '{"name":"\\n"}', "more"];
  const other = rewriteSource(SOURCE, FIRST, [{ lines, texts: made }]);
  assertEquals(newLines(other, SOURCE), ['        < {"status":410}', "        < more"]);
  assertEquals(newLines(SOURCE, other), [
    "        < ${refusal({ status: 404, text: `}` })}",
  ]);
});

Deno.test("rewriteSource() knows texts without escapes", () => {
  const { expected: { lines } } = lastExchange(SECOND);
  const result = rewriteSource(SOURCE, SECOND, [{ lines, texts: ["201", '"\\t"'] }]);
  assertEquals(newLines(result, SOURCE), ["        < 201", '        < "\\t"']);
  const change = { lines, texts: ["200", "`"] };
  assertThrows(() => rewriteSource(SOURCE, SECOND, [change]), UnwrittenError, "by hand");
});

Deno.test("rewriteSource() refuses what is made by a function", () => {
  const change = { lines: [3, 4] as [number, number], texts: ["202"] };
  for (const clause of ["number 1", "the last", "the first"]) {
    const story = { clause, told: FIRST.told };
    assertThrows(() => rewriteSource(SOURCE, story, [change]), UnwrittenError, "by hand");
  }
});

function lastExchange({ told }: Story) {
  const step = stepsOf(told).at(-1)!;
  if (step.kind !== "exchange") throw new Error(told);
  return step;
}

Deno.test("changesOf() says what must be rewritten, so that the story is as it is told", async () => {
  const story = { clause: "", told: '> GET /a\n< 200\n< {"id":{a}}\n> GET /{a}\n< 404\n< {}' };
  const send = (input: unknown) => {
    const { pathname } = new URL(String(input));
    return Promise.resolve(Response.json({ id: 7, at: pathname }));
  };
  const listener: Listener = { base: "http://a", send: send as typeof fetch, key: "", has: [] };
  const changes = await changesOf(story, listener);
  assertEquals(changes, [
    { lines: [1, 3], texts: ["200", '{"id":{a},"at":"/a"}'] },
    { lines: [4, 6], texts: ["200", '{"id":7,"at":"/7"}'] },
  ]);
  const lines = story.told.split("\n");
  const told = lines.toSpliced(4, 2, "< 200", '< {"id":{a},"at":"/7"}')
    .toSpliced(1, 2, "< 200", '< {"id":{a},"at":"/a"}').join("\n");
  assertEquals(await tell({ clause: "", told }, listener), undefined);
  assertStringIncludes((await tell(story, listener))!.came, '{"id":7,"at":"/a"}');
});
