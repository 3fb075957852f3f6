/** The operation `batchPets`: several additions, changes, removals and restores, each carried out by its own operation. */

import { sha256Hex } from "eventstore-less/parts";
import { z } from "zod";
import { encodePet, int64 } from "../../events/pet.ts";
import type { ApiRequest } from "../api/api_request.ts";
import { BASE_PATH, EXAMPLE_BASE } from "../api/base_path.ts";
import { content, schemaComponent } from "../api/component.ts";
import { entityTag } from "../api/conditional_read.ts";
import {
  ERROR,
  ERRORS_OF_ALL,
  ERRORS_OF_JSON_BODIES,
  ERRORS_OF_WRITES,
} from "../api/described_errors.ts";
import { NO_STORE } from "../api/described_headers.ts";
import { errorResponse, HttpError } from "../api/errors.ts";
import { type HttpResponse, NEVER_STORED } from "../api/http_response.ts";
import type { WriteOperation } from "../api/operation.ts";
import {
  IDEMPOTENCY_KEY,
  IDEMPOTENCY_REPLAYED_HEADER,
  parseIdempotencyKey,
} from "../api/requests/idempotency_key.ts";
import {
  ASSIGNED,
  expectNoRepeatedNames,
  parseBody,
  parseMember,
} from "../api/requests/parse_body.ts";
import { parseQuery } from "../api/requests/query.ts";
import {
  expectUnusedBeside,
  type IdempotentPartsDeps,
  withPart,
} from "../keys/idempotent_parts.ts";
import { createPet, type CreatePetDeps } from "./create_pet.ts";
import { EXAMPLE_NEW_PET, EXAMPLE_PET, PET_PATCH, PETS_TAG, SHOWN_PET } from "./described_pets.ts";
import { requestOfPart } from "./request_of_part.ts";
import { removePet } from "./remove_pet.ts";
import { restorePet } from "./restore_pet.ts";
import { updatePet } from "./update_pet.ts";

/** Maximum number of operations in a batch. */
export const BATCH_MAX = 100;

export type BatchPetsDeps = CreatePetDeps & IdempotentPartsDeps;

/** The operation that carries out each action. */
const OPERATIONS = {
  add: createPet,
  change: updatePet,
  remove: removePet,
  restore: restorePet,
} satisfies Record<string, WriteOperation<CreatePetDeps>>;

type Action = keyof typeof OPERATIONS;

const ACTIONS = Object.keys(OPERATIONS) as Action[];

const TEXT = z.string({ error: "must be a string" });

/** One operation of a batch, without its body. */
const ENVELOPE = {
  action: z.enum(ACTIONS, { error: `must be one of ${ACTIONS.join(", ")}` })
    .describe("What the operation does with an animal"),
  petId: int64("The animal; only an `add` has none").optional(),
  ifMatch: TEXT.describe("`If-Match` of the single request").optional(),
  ifNoneMatch: TEXT.describe("`If-None-Match` of the single request").optional(),
  expected: SHOWN_PET.optional(),
  idempotencyKey: TEXT.describe(
    "An `Idempotency-Key` of its own, which is that of a single request, in place of that of the batch",
  ).optional(),
};

/** The body is checked by the operation that carries it out. */
const OPERATION = z.strictObject({ ...ENVELOPE, body: z.unknown().optional() });

export type BatchOperation = z.infer<typeof OPERATION>;

const OPERATIONS_FAULT = { error: `must be an array of 1 to ${BATCH_MAX} operations` };

const BATCH = z.strictObject({
  operations: z.array(z.unknown(), OPERATIONS_FAULT)
    .min(1, OPERATIONS_FAULT)
    .max(BATCH_MAX, OPERATIONS_FAULT),
});

const DESCRIBED_OPERATION = z.strictObject({
  ...ENVELOPE,
  body: (PET_PATCH.value as z.ZodType).optional(),
}).describe(
  "An operation. The body of an `add` is that of a NewPet, that of a `change` has the fields to change, and the others have none. " +
    "`expected` is the animal as a list or an event shows it, and means its `ETag` in `ifMatch`",
);

const DESCRIBED_BATCH = schemaComponent(
  "Batch",
  z.strictObject({ operations: z.array(DESCRIBED_OPERATION).min(1).max(BATCH_MAX) })
    .describe("Operations that are carried out one after the other"),
  [schemaComponent("BatchOperation", DESCRIBED_OPERATION)],
);

const RESULT = z.strictObject({
  status: z.int().min(200).max(599)
    .meta({ description: "The status of the response to the single request", format: "int32" }),
  etag: z.string().optional().describe("The `ETag` of that response"),
  location: z.string().optional().describe("The `Location` of that response"),
  replayed: z.literal(true).optional().describe("Present if it has `Idempotency-Replayed`"),
  body: z.union([SHOWN_PET, ERROR.value as z.ZodType]).optional()
    .describe("The body of that response: an animal or an error"),
}).describe("The outcome of one operation");

const RESULTS = schemaComponent(
  "BatchResults",
  z.strictObject({ results: z.array(RESULT).min(1).max(BATCH_MAX) })
    .describe("The outcomes of the operations of a batch, in their order"),
  [schemaComponent("BatchResult", RESULT)],
);

const EXAMPLE_BATCH = { operations: [{ action: "add", body: EXAMPLE_NEW_PET }] };

const EXAMPLE_RESULTS = {
  results: [{
    status: 201,
    etag: '"b56c655969147e6e31020b86f5267a00"',
    location: `${EXAMPLE_BASE}/pets/${EXAMPLE_PET.id}`,
    body: EXAMPLE_PET,
  }],
};

export const batchPets: WriteOperation<BatchPetsDeps> = {
  id: "batchPets",
  method: "POST",
  path: "/pets/batch",
  tag: PETS_TAG,
  summary: "Add, change, remove and restore several animals",
  description:
    `Carries out up to ${BATCH_MAX} operations as single requests, one after the other, of which each is carried out or refused ` +
    "by itself. The status is 200 even if all are refused. The guide “Several at once” says more.",
  parameters: [IDEMPOTENCY_KEY],
  body: {
    description: "The operations",
    schema: DESCRIBED_BATCH,
    example: EXAMPLE_BATCH,
  },
  responses: {
    200: {
      description: "An outcome for each operation, in their order",
      headers: [NO_STORE],
      content: content(RESULTS, EXAMPLE_RESULTS),
    },
  },
  errors: [...ERRORS_OF_ALL, ...ERRORS_OF_WRITES, ...ERRORS_OF_JSON_BODIES],
  kind: "write",
  prepare,
};

/** Carries out a part of a batch. Resolves to a response also if it fails. */
type CarryOut = () => Promise<HttpResponse>;

async function prepare(deps: BatchPetsDeps, exchange: ApiRequest, token: string) {
  const { request } = exchange;
  if (request.search !== "") parseQuery(request.search, {});
  const idempotencyKey = parseIdempotencyKey(request.headers);
  const operations = parseOperations(await deps.bodies.readJson(request));
  exchange.requests = operations.length;
  const names = partNames(operations);
  await expectUnusedBeside(deps, { token, idempotencyKey }, names);
  const inOrder = inSequence(deps);
  const parts = await Promise.all(operations.map((operation, index) => {
    const depsOfPart = idempotencyKey === undefined || operation.idempotencyKey !== undefined
      ? inOrder
      : withPart(inOrder, { token, idempotencyKey }, names[index]);
    return preparePart(depsOfPart, exchange, operation, token);
  }));
  // All begin in the same turn and in their order, so that they can share a commit.
  return async () => resultsResponse(await Promise.all(parts.map((carryOut) => carryOut())));
}

/** The surroundings in which writes have their effects in the order in which they begin. */
function inSequence(deps: BatchPetsDeps): BatchPetsDeps {
  const sequence = Symbol("batch");
  return { ...deps, append: (command) => deps.append({ ...command, sequence }) };
}

function operationError(field: string, fault: string): HttpError {
  return new HttpError("invalid_body", `Field "${field}" ${fault}`);
}

/** A name for each operation, which is another one in another batch. */
function partNames(operations: readonly BatchOperation[]): string[] {
  const batch = sha256Hex(encodeExactJson(operations));
  return operations.map((_, index) => `${batch}/${index}`);
}

/** Throws `malformed_body` or `invalid_body`. */
function parseOperations(text: string): BatchOperation[] {
  const body = parseBody(text, BATCH, BATCH);
  expectNoRepeatedNames(text, body);
  return body.operations.map((member, index) =>
    parseMember(member, OPERATION, `operations[${index}]`)
  );
}

/** Throws `invalid_body`: the operation is refused, and the others are carried out. */
function expectTarget({ action, petId, expected, ifMatch }: BatchOperation): void {
  const needsPet = OPERATIONS[action].path.includes("{petId}");
  if (needsPet && petId === undefined) throw operationError("petId", "is missing");
  if (!needsPet && petId !== undefined) throw operationError("petId", ASSIGNED);
  if (expected !== undefined && ifMatch !== undefined) {
    throw operationError("expected", "cannot be used with ifMatch");
  }
}

/** Lets the operation of an action check and carry out a part of a batch, as it does a request. */
async function preparePart(
  deps: BatchPetsDeps,
  exchange: ApiRequest,
  operation: BatchOperation,
  token: string,
): Promise<CarryOut> {
  const { method, path, prepare } = OPERATIONS[operation.action];
  const { petId, ifMatch, ifNoneMatch, expected, idempotencyKey, body } = operation;
  const request = requestOfPart(exchange.request, {
    method,
    path: BASE_PATH + path.replace("{petId}", String(petId)),
    headers: {
      "content-type": "application/json",
      "if-match": expected === undefined ? ifMatch : entityTag(encodePet(expected)),
      "if-none-match": ifNoneMatch,
      "idempotency-key": idempotencyKey,
    },
    body: body === undefined ? undefined : encodeExactJson(body),
  });
  const failed = (thrown: unknown): HttpResponse => {
    exchange.failures ??= [];
    exchange.failures.push(thrown);
    return errorResponse(thrown);
  };
  try {
    expectTarget(operation);
    const carryOut = await prepare(deps, { ...exchange, request }, token);
    return () => carryOut().catch(failed);
  } catch (error) {
    return () => Promise.resolve(failed(error));
  }
}

function resultsResponse(responses: readonly HttpResponse[]): HttpResponse {
  const body = `{"results":[${responses.map(encodeResult).join(",")}]}`;
  return { status: 200, body, headers: { ...NEVER_STORED } };
}

/** The JSON text of a result, whose body is that of the response. */
function encodeResult({ status, headers, body }: HttpResponse): string {
  const { etag, location, [IDEMPOTENCY_REPLAYED_HEADER]: replayed } = headers;
  const members = JSON.stringify({
    status,
    etag,
    location,
    replayed: replayed === undefined ? undefined : true,
  });
  return body === null ? members : `${members.slice(0, -1)},"body":${body}}`;
}

// TypeScript does not declare rawJSON yet (https://github.com/tc39/proposal-json-parse-with-source).
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown };

/** The JSON text of a value of `parseExactJson()`. */
function encodeExactJson(value: unknown): string {
  return JSON.stringify(
    value,
    (_, member) => typeof member === "bigint" ? rawJson(String(member)) : member,
  );
}
