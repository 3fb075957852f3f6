import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { revokeApiKey } from "../../../src/keys/write_api_key.ts";

import { BATCH_MAX } from "../../../src/animals/batch_pets.ts";
import { DEPRECATION_HEADERS } from "../../../src/animals/get_pet.ts";
import {
  SCAN_LIMIT,
  SCAN_MS,
  SEARCHES_LIMIT,
  SEARCHES_OF_KEY_LIMIT,
} from "../../../src/animals/pet_search.ts";
import { IDS_MAX, SEARCH_MAX } from "../../../src/animals/page_query.ts";
import { type ErrorCode, ERRORS } from "../../../src/api/errors.ts";
import { IDEMPOTENCY_KEY_MAX_LENGTH } from "../../../src/api/requests/idempotency_key.ts";
import { LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN } from "../../../src/api/requests/page_limit.ts";
import { BODY_LIMIT_MS } from "../../../src/api/requests/request_body.ts";
import { CATEGORIES_LIMIT } from "../../../src/categories/write_category.ts";
import {
  FOLLOWERS_LIMIT,
  FOLLOWERS_OF_KEY_LIMIT,
} from "../../../src/eventstore_less/feed/followers.ts";
import { IDEMPOTENCY_LIFETIME_MS } from "../../../src/eventstore_less/keyspace.ts";
import {
  EVENTS_LIMIT_DEFAULT,
  EVENTS_LIMIT_MAX,
  EVENTS_TIMEOUT_MAX,
} from "../../../src/http/events_query.ts";
import { codeSamples, guides } from "../../../src/http/docs/guides.ts";
import { BODY_LIMIT_BYTES } from "../../../src/runtime/service_request.ts";
import { DESCRIPTION } from "../../support/assert_described.ts";
import { permissions, testNeeding } from "../../support/test_needing.ts";
import { describeInterface } from "../../../src/http/docs/openapi.ts";
import { type FetchHandler, serveFetch } from "../../support/fetch_from.ts";
import { EXAMPLE_EVENT_ID } from "../../../src/api/described_event.ts";
import { EXAMPLE_WEBHOOK } from "../../../src/webhooks/described_webhooks.ts";
import { SECRET_OVERLAP_MS } from "../../../src/webhooks/rotated_secrets.ts";
import { WEBHOOKS_LIMIT } from "../../../src/webhooks/write_webhook.ts";
import { openTestService } from "../../support/test_service.ts";

const BASE = "https://animals.example/v1";

/** The languages of the samples, each with the command that runs a file, and one that succeeds if it can. */
const COMMANDS = {
  curl: { file: "sample.sh", run: ["bash"], check: ["curl", "--version"] },
  JavaScript: {
    file: "sample.mjs",
    run: [Deno.execPath(), "run", "--allow-env", "--allow-net"],
    check: [Deno.execPath(), "--version"],
  },
  Python: { file: "sample.py", run: ["python3"], check: ["python3", "-c", "import requests"] },
  Go: { file: "sample.go", run: ["go", "run"], check: ["go", "version"] },
};

const PROGRAMS_AND_NET = permissions("net", "read", "run", "write");

type Language = keyof typeof COMMANDS;

const LANGUAGES = Object.keys(COMMANDS) as Language[];

/** A function that declares tests of programs in a language. */
function testNeedingLanguage(language: Language) {
  const [program, ...args] = COMMANDS[language].check;
  const command = [program, ...args].join(" ");
  return testNeeding(PROGRAMS_AND_NET, { name: `a ${command}`, isMet: succeeds(program, args) });
}

function succeeds(program: string, args: string[]): boolean {
  try {
    return new Deno.Command(program, { args }).outputSync().success;
  } catch {
    return false;
  }
}

Deno.test("the guides have only addresses of the given base", () => {
  const text = guides(BASE).map(({ description }) => description).join("\n");
  const samples = [...text.matchAll(/```.+\n([^]+?)```/g)].map(([, code]) => code).join("\n");
  const addresses = samples.match(/https?:[^"\s>]+/g)!
    .filter((address) => address !== EXAMPLE_WEBHOOK.url);
  assert(addresses.length > 10);
  for (const address of addresses) {
    assertMatch(
      address.slice(BASE.length),
      /^\/(pets|categories|events|webhooks|\.\.\/openapi\.json)\b/,
    );
  }
});

Deno.test("the guides have the limits, statuses and dates of the code", () => {
  const all = new Map(guides(BASE).map(({ name, description }) => [name, description]));
  const inWords = (value: number) => value.toLocaleString("en");
  const seconds = (ms: number) => `${ms / 1_000} seconds`;
  const rows = [...all.get("Limits")!.matchAll(/^\| ([^|]+?) +\| ([^|]+?) +\|$/gm)].slice(2);
  assertEquals(rows.map(([, what, limit]) => [what, limit]), [
    ["Body of a request", `${BODY_LIMIT_BYTES / 1024} KiB`],
    ["Time for a body to arrive", seconds(BODY_LIMIT_MS)],
    ["Animals on a page", inWords(LIMIT_MAX)],
    ["Operations for several at once", inWords(BATCH_MAX)],
    ["Categories with names", inWords(CATEGORIES_LIMIT)],
    ["Webhooks", inWords(WEBHOOKS_LIMIT)],
    ["Identifiers in `ids`", inWords(IDS_MAX)],
    ["`name` or `q` in a search", `${SEARCH_MAX} characters`],
    [
      "Animals that a page of a search looks at",
      `${inWords(SCAN_LIMIT)}, for at most ${seconds(SCAN_MS)}`,
    ],
    ["Events in a batch", `${inWords(EVENTS_LIMIT_MAX)}, by default ${EVENTS_LIMIT_DEFAULT}`],
    ["`timeout` of a batch", seconds(EVENTS_TIMEOUT_MAX)],
    ["Streams and waiting requests of an API key", inWords(FOLLOWERS_OF_KEY_LIMIT)],
    ["Searches of an API key at once", inWords(SEARCHES_OF_KEY_LIMIT)],
    [
      "`Idempotency-Key`, with its quotes",
      `${IDEMPOTENCY_KEY_MAX_LENGTH} characters, for ${IDEMPOTENCY_LIFETIME_MS / 3_600_000} hours`,
    ],
  ]);
  const { sunset } = DEPRECATION_HEADERS;
  const statusOf = (code: ErrorCode) => `${ERRORS[code].status} \`${code}\``;
  const sentences: [guide: string, text: string][] = [
    ["Deprecation", `removed on ${sunset.slice(5, 16)}.`],
    ["Retries", `\`Idempotency-Key\` of 1 to ${IDEMPOTENCY_KEY_MAX_LENGTH} characters`],
    ["Retries", `another request gets ${ERRORS.idempotency_key_reused.status}.`],
    ["Change or remove an animal", `you get ${ERRORS.precondition_failed.status}.`],
    ["Several at once", `takes 1 to ${BATCH_MAX} operations`],
    ["Paging", `(${LIMIT_MIN} to ${LIMIT_MAX}, by default ${LIMIT_DEFAULT})`],
    ["Paging", `only these animals, 1 to ${IDS_MAX},`],
    ["Names of categories", statusOf("category_name_taken")],
    ["Webhooks", `at most ${WEBHOOKS_LIMIT} webhooks.`],
    ["Webhooks", statusOf("webhooks_off")],
    ["Webhooks", `For ${SECRET_OVERLAP_MS / 3_600_000} hours after it`],
    ["Follow the store", statusOf("feed_reset")],
    ["Limits", `at most ${inWords(FOLLOWERS_LIMIT)} streams`],
    ["Limits", `and ${SEARCHES_LIMIT} searches`],
  ];
  for (const [guide, text] of sentences) {
    assertStringIncludes(all.get(guide)!.replaceAll(/\s+/g, " "), text, guide);
  }
});

Deno.test("each operation has a sample in each language; one without samples is described, too", () => {
  for (const [path, operations] of Object.entries(DESCRIPTION.paths)) {
    for (const [method, { "x-codeSamples": samples }] of Object.entries(operations)) {
      const languages = samples.map(({ label }) => label);
      assertEquals(languages, LANGUAGES, `code_samples.md lacks a sample of ${method} ${path}`);
    }
  }
  assertEquals(codeSamples("NONE", BASE), []);
});

type Schema = { $ref?: string; items?: Schema; oneOf?: Schema[]; required?: string[] };

/** The members that a value of a schema, or each value in a list of it, always has. */
function membersOf({ $ref, items, oneOf, required = [] }: Schema): string[] {
  if ($ref !== undefined) {
    return membersOf(DESCRIPTION.components.schemas[$ref.split("/").at(-1)!] as Schema);
  }
  const inner = items ?? oneOf?.[0];
  return inner === undefined ? required : membersOf(inner);
}

/** The words that the sample of an operation prints: members of the response, or the status of one without a body. */
function wordsOf({ responses }: typeof DESCRIPTION["paths"][string][string]): string[] {
  const [[status, { content }]] = Object.entries(responses);
  return content === undefined ? [status] : membersOf(Object.values(content)[0].schema);
}

/** Places additions before what shows them, and removals last; only a restore comes after these. */
const ORDER = ["post", "put", "get", "patch", "delete", "restore"];

function placeOf(method: string, operationId: string): number {
  return ORDER.indexOf(operationId === "restorePet" ? "restore" : method);
}

for (const language of LANGUAGES) {
  testNeedingLanguage(language)(`the samples in ${language} run`, async () => {
    await using service = await openTestService();
    await using server = serveFetch(endingStreams(service.fetch));
    const description = describeInterface({ publicUrl: `http://127.0.0.1:${server.port}/v1` });
    const { paths }: typeof DESCRIPTION = JSON.parse(description);
    const webhook = await (await service.addWebhook({ url: "https://shop.example" })).json();
    const end = (await service.send("/v1/pets")).headers.get("x-feed-position")!;
    const operations = Object.values(paths).flatMap((methods) => Object.entries(methods))
      .map(([method, operation]) => ({ operation, place: placeOf(method, operation.operationId) }))
      .sort((one, other) => one.place - other.place);
    for (const { operation } of operations) {
      const { source } = operation["x-codeSamples"].find(({ label }) => label === language)!;
      const code = source.replaceAll(EXAMPLE_WEBHOOK.id, webhook.id)
        .replaceAll(EXAMPLE_EVENT_ID, end);
      const printed = await runSample(language, code, service.token);
      const words = wordsOf(operation);
      assert(words.length > 0, operation.operationId);
      for (const word of words) assertStringIncludes(printed, word, operation.operationId);
    }
  });
}

const PETS = 250;
const UNKNOWN_ID = "0000000000000001-0000000000000000";
const ALL_PETS = new RegExp(`^${PETS} Rex\n([0-9]+ Rex\n){${PETS - 2}}1 Rex\n$`);

/** Output of a program that read the pet before it was renamed, got 412, and read it again. */
const SOLD = /^[^]*["']?name["']?: ?["']Renamed["'],[^]*["']?status["']?: ?["']sold["']/;

/** A program that followed a change, got 410, made a new copy, followed a removal, and ended with its key. */
const FOLLOWED = /^250 animals\n250 PetUpdated .*Max 1.*\n250 animals\n249 PetRemoved .*Max 1.*\n$/;
/** A list of one removed animal, and the animal after its restore. */
const RESTORED = /^\[{"id":1,"name":"Rex",[^}]*"etag":"[^}]*}\]{"id":1,"name":"Rex",[^}]*}$/;
/** The webhook with its secret, and a list of it without one. */
const ADDED_WEBHOOK =
  /^{"id":"\w{26}",.*"secret":"whsec_[^"]+"}\[{"id":"\w{26}",[^}]*"createdAt":"[^"]+"}\]$/;
const REFUSED = /401|invalid_credentials/;

type Program = [guide: string, mark: string, language: Language, printed: RegExp, failure?: RegExp];

/** The programs in guides, with what they print in a store of {@linkcode PETS} pets, and the failure that ends them. */
const PROGRAMS: Program[] = [
  ["Follow the store", "javascript", "JavaScript", FOLLOWED, REFUSED],
  ["Follow the store", "python", "Python", FOLLOWED, REFUSED],
  ["Paging", "python", "Python", ALL_PETS],
  ["Paging", "javascript", "JavaScript", ALL_PETS],
  ["Retries", "bash", "curl", new RegExp(`^{"id":${PETS + 1},"name":"Rex",`)],
  [
    "Several at once",
    "bash",
    "curl",
    /^{"results":\[{"status":201,.*"status":200,.*{"status":204}\]}$/,
  ],
  ["Names of categories", "bash", "curl", /^(\[?{"id":7,"name":"Dogs"}\]?){2}$/],
  ["Restore a removed animal", "bash", "curl", RESTORED],
  ["Webhooks", "bash", "curl", ADDED_WEBHOOK],
  ["Polling", "bash", "curl", new RegExp(`^\\[{"id":${PETS},"name":"Rex"`)],
  ["Change or remove an animal", "javascript", "JavaScript", SOLD],
  ["Change or remove an animal", "python", "Python", SOLD],
];

for (const [name, mark, language, printed, failure] of PROGRAMS) {
  testNeedingLanguage(language)(
    `the guide to ${name} has a program in ${language} that works`,
    async () => {
      await using service = await openTestService();
      let isRenamed = false;
      let polls = 0;
      const fetchChanged: FetchHandler = async (request) => {
        if (request.method === "PATCH" && !isRenamed) {
          isRenamed = true;
          await (await service.change(1, { name: "Renamed" })).body?.cancel();
        }
        if (request.url.includes("removed=true")) await service.remove(1);
        if (request.url.includes("timeout=")) {
          polls++;
          if (polls === 2) {
            const url = request.url.replace(/lastEventId=.*/, `lastEventId=${UNKNOWN_ID}`);
            request = new Request(url, request);
          } else if (polls === 4) await revokeApiKey(service, service.keyId);
          else if (polls === 3) await service.send("/v1/pets/1", { method: "DELETE" });
          else {
            await (await service.nameCategory(1n, "Dogs")).body?.cancel();
            await (await service.change(1, { name: "Max 1" })).body?.cancel();
          }
        }
        return await service.fetch(request);
      };
      await using server = serveFetch(fetchChanged);
      const pet = { name: "Rex", categoryId: 7, status: "available" };
      const additions = await Promise.all(Array.from({ length: PETS }, () => service.add(pet)));
      await Promise.all(additions.map(({ body }) => body?.cancel()));
      const all = guides(`http://127.0.0.1:${server.port}/v1`);
      const { description } = all.find((guide) => guide.name === name)!;
      const [, code] = new RegExp(`\`\`\`${mark}\n([^]+?)\`\`\``).exec(description)!;
      assertMatch(await runSample(language, code, service.token, failure), printed);
    },
  );
}

/** The same service, but its streams end after some events. So a program that reads a stream ends. */
function endingStreams(fetch: FetchHandler): FetchHandler {
  return async (request) => {
    const response = await fetch(request);
    if (response.headers.get("content-type") !== "text/event-stream") return response;
    const ending = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        controller.enqueue(chunk);
        if (new TextDecoder().decode(chunk).includes("\ndata: ")) controller.terminate();
      },
    });
    return new Response(response.body!.pipeThrough(ending), response);
  };
}

/** Runs the code with the API key in `KEY`, asserts that it succeeds or how it fails, and returns what it prints. */
async function runSample(language: Language, code: string, key: string, failure?: RegExp) {
  const { file, run: [program, ...args] } = COMMANDS[language];
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/${file}`, code);
    const command = new Deno.Command(program, {
      args: [...args, file],
      cwd: folder,
      env: { KEY: key, NO_COLOR: "1" },
    });
    const { success, stdout, stderr } = await command.output();
    const decoder = new TextDecoder();
    const errors = decoder.decode(stderr);
    assert(success ? failure === undefined : failure?.test(errors), errors);
    return decoder.decode(stdout);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
