/**
 * Tests of the contract with third-party tools from PyPI and npm. If tools cannot be installed, their tests are
 * ignored with one line.
 *
 *     deno task test:contract
 */

import { assertEquals } from "@std/assert";
import { EXAMPLE_EVENT_ID } from "../../src/api/described_event.ts";
import { FEED_ID_PATTERN } from "../../src/eventstore_less/feed/event_feed.ts";
import { describeInterface } from "../../src/http/docs/openapi.ts";
import { install, run } from "../support/third_party_tools.ts";
import {
  HERE,
  installNodePackages,
  installPythonTools,
  NODE_FOLDER,
  PYTHON_BIN,
  startLiveService,
} from "./contract_tools.ts";
import type { DESCRIPTION } from "../support/assert_described.ts";
import { testNeeding } from "../support/test_needing.ts";

type LiveService = Awaited<ReturnType<typeof startLiveService>>;
type Schema = { pattern?: string };

/** Maximum number of cases that Schemathesis generates for an operation. */
const CASES = 50;

/** A pet that is there again after its removal is a fault for this check, which knows of no restore. */
const CHECK_OF_REMOVALS = "use_after_free";
const RESTORE_PATH = "/pets/{petId}/restore";

/** A description cannot say that these exclude others. Each seed is run without some of them, or without a path. */
const FILTERS = ["status", "categoryId", "name", "q", "order"];
const SEEDS: [seed: number, leftOut: string[]][] = [
  [1, ["ids", "since", "removed", "q", RESTORE_PATH]],
  [2, [...FILTERS, "limit", "cursor", "lastEventId", "removed"]],
  [3, [...FILTERS, "ids", "since"]],
];

const withPython = await install("tools from PyPI", installPythonTools);
const withNode = await install("packages from npm", installNodePackages);
const test = testNeeding(withPython);

for (const [seed, leftOut] of SEEDS) {
  test(`Schemathesis finds nothing with its default settings, all checks and seed ${seed}`, async () => {
    await using live = await startLiveService();
    const description = `${live.folder}/openapi.json`;
    const eventId = await firstEventId(live);
    const text = forSchemathesis(describeInterface(), leftOut, eventId);
    await Deno.writeTextFile(description, text);
    const excluded = leftOut.includes(RESTORE_PATH) ? [] : [CHECK_OF_REMOVALS];
    const { code, output } = await run(`${PYTHON_BIN}/schemathesis`, [
      "run",
      description,
      `--url=${live.baseUrl}`,
      `--header=Authorization: Bearer ${live.token}`,
      "--checks=all",
      ...excluded.map((check) => `--exclude-checks=${check}`),
      "--continue-on-failure",
      `--max-examples=${CASES}`,
      `--seed=${seed}`,
      "--no-color",
    ], { cwd: live.folder });
    assertEquals(code, 0, output);
    console.log(output.match(/^Test cases:\n.*$/m)?.[0]);
  });
}

// TypeScript does not declare rawJSON yet (https://github.com/tc39/proposal-json-parse-with-source).
const { rawJSON: rawJson } = JSON as unknown as {
  rawJSON(text: string): unknown;
};

const BEGINNING = "0000000000000000-0000000000000000";

/** Schemathesis takes 410 and 412 for refusals of valid requests, so it gets values that exist. */
const KNOWN_VALUES: Record<string, string[]> = {
  "If-Match": ["*"],
  "Last-Event-ID": [BEGINNING, ""],
  lastEventId: ["now", BEGINNING],
};

/** Only some addresses may be called, which a description cannot say. */
const WEBHOOK_URL = "https://shop.example/hooks";

/** The id of an event that bodies can name. */
async function firstEventId({ baseUrl, token }: LiveService): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${baseUrl}/events?limit=1&timeout=0`, {
    headers,
  });
  const [{ id }] = await response.json();
  return id;
}

/** Whether a parameter is the id of an event, which exists on no other store. */
function isCursorOfEvents(
  { name, schema }: { name?: string; schema?: Schema },
) {
  return name === "cursor" && schema?.pattern === FEED_ID_PATTERN.source;
}

/** The counts before a cursor need a search, which a description cannot say. */
const SUMMARY_PATH = "/pets/summary";

/** A category without a name has no ETag, so `If-Match` refuses to name it. */
const IF_MATCH_REF = "#/components/parameters/IfMatch";

/** Refuses to write what exists. */
const IF_NONE_MATCH_REF = "#/components/parameters/IfNoneMatchOfWrite";

/**
 * The description with the known values, also the id of an event, without some parameters of the query and some paths,
 * without the one that would make it wait for events, the cursor of counts, the `If-None-Match` of writes, and the
 * `If-Match` of a PUT.
 */
function forSchemathesis(
  description: string,
  leftOut: readonly string[],
  eventId: string,
): string {
  const replace = (
    name: string,
    value: unknown,
    { source }: { source: string },
  ) => {
    // An int64 keeps all its digits.
    if (typeof value === "number") return rawJson(source);
    if (Array.isArray(value)) {
      return value.filter((it) =>
        it.name !== "timeout" &&
        !(it.in === "query" && leftOut.includes(it.name)) &&
        !isCursorOfEvents(it)
      );
    }
    if (name === "url" && typeof value === "object") return { type: "string", enum: [WEBHOOK_URL] };
    const isEventId = name === "eventId" || name === "lastEventId";
    if (isEventId && (value as Schema).pattern === FEED_ID_PATTERN.source) {
      return { type: "string", enum: [eventId] };
    }
    const known = KNOWN_VALUES[(value as { name?: string } | null)?.name ?? ""];
    return known === undefined ? value : { ...value!, schema: { type: "string", enum: known } };
  };
  const parsed = JSON.parse(
    description.replaceAll(EXAMPLE_EVENT_ID, eventId),
    replace as (key: string, value: unknown) => unknown,
  );
  const { paths } = parsed as typeof DESCRIPTION;
  for (const [path, operations] of Object.entries(paths)) {
    if (leftOut.includes(path)) delete paths[path];
    for (const [method, operation] of Object.entries(operations)) {
      const refs = method === "put" ? [IF_NONE_MATCH_REF, IF_MATCH_REF] : [IF_NONE_MATCH_REF];
      operation.parameters = operation.parameters.filter(({ $ref, name }) =>
        !refs.includes($ref ?? "") &&
        !(path === SUMMARY_PATH && name === "cursor")
      );
    }
  }
  return JSON.stringify(parsed);
}

testNeeding(withNode)(
  "the OWASP rules and the OpenAPI rules of Spectral find nothing that is not answered",
  async () => {
    const lint = async (description: string) => {
      // Spectral finds its rule sets from the folder of its configuration.
      await Deno.copyFile(
        `${HERE}/spectral.yaml`,
        `${NODE_FOLDER}/spectral.yaml`,
      );
      await Deno.writeTextFile(`${NODE_FOLDER}/openapi.json`, description);
      const flags = [
        "--ruleset=spectral.yaml",
        "--fail-severity=hint",
        "--format=text",
      ];
      const args = ["lint", "openapi.json", ...flags];
      return await run(`${NODE_FOLDER}/node_modules/.bin/spectral`, args, {
        cwd: NODE_FOLDER,
      });
    };
    const description = describeInterface({
      publicUrl: "https://shop.example/v1",
    });
    const { code, output } = await lint(description);
    assertEquals(code, 0, output);
    const unlimited = description.replace('"maxLength":19', '"description":""');
    assertEquals((await lint(unlimited)).output.match(/owasp:\S+/g), [
      "owasp:api4:2023-string-limit",
    ]);
  },
);

test("requests and httpx follow the links through 1,000 pets", async () => {
  await using live = await startLiveService();
  const args = [`${HERE}/clients/paging.py`, live.baseUrl, live.token];
  assertEquals(await run(`${PYTHON_BIN}/python`, args), {
    code: 0,
    output: "",
  });
});

testNeeding(withNode)(
  "got and Octokit follow the links through 1,000 pets",
  async () => {
    await using live = await startLiveService();
    // Node finds packages from the folder of the script.
    await Deno.copyFile(
      `${HERE}/clients/paging.mjs`,
      `${NODE_FOLDER}/paging.mjs`,
    );
    const args = [`${NODE_FOLDER}/paging.mjs`, live.baseUrl, live.token];
    assertEquals(await run("node", args), { code: 0, output: "" });
  },
);
