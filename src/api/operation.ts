/** An operation that needs an API key: one value with its function and its description. */

import type { HeadEntry } from "eventstore-less/parts";
import type { ApiKey } from "../keys/api_key.ts";
import type { ApiRequest } from "./api_request.ts";
import type { Component } from "./component.ts";
import type { ErrorCode } from "./errors.ts";
import type { HttpResponse } from "./http_response.ts";

export type Operation<Deps> = OperationDescription & OperationFunction<Deps>;

/** A GET also responds to HEAD. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface OperationDescription {
  /** Its name in the description (`operationId`), in generated clients and in metrics. */
  id: string;
  method: Method;
  /** Below the path of the interface. Its last segment, or the one before, may be a parameter, such as `{petId}`. */
  path: string;
  tag: Tag;
  summary: string;
  description: string;
  deprecated?: true;
  /** Parameters in the path, the query and the headers. `If-None-Match` and 304 follow from the `ETag` of a GET. */
  parameters: readonly DescribedParameter[];
  /** The body of the request, if it has one. The code samples show its example, too. */
  body?: DescribedBody;
  /** The responses that are no errors, by their status. */
  responses: Readonly<Record<number, DescribedResponse>>;
  errors: readonly ErrorCode[];
  /** Headers that only this operation has in its errors, by the status. */
  errorHeaders?: Readonly<Record<number, readonly Component[]>>;
  /** The query of the code samples. `kind` is a section of `code_samples.md`, in place of that of the method. */
  sample?: { query?: string; kind?: string };
}

/** A group of operations in the description. */
export interface Tag {
  name: string;
  description: string;
}

export type DescribedParameter = Component | {
  name: string;
  in: "path" | "query" | "header";
  required?: true;
  description: string;
  /** Set for a list with commas. */
  explode?: false;
  schema: object;
  /** The code samples have the example of a parameter in the path, too. */
  example?: unknown;
};

export interface DescribedBody {
  description: string;
  schema: Component;
  example: object;
  /** Its media types, by default that of JSON. */
  types?: readonly string[];
}

export interface DescribedResponse {
  description: string;
  /** Without those that all responses have. */
  headers: readonly Component[];
  /** The body by its media type; absent if the response has no body. */
  content?: Record<string, { schema: object; example: unknown }>;
}

/** An operation that changes something. */
export type WriteOperation<Deps> = OperationDescription & WriteFunction<Deps>;

export interface WriteFunction<Deps> {
  kind: "write";
  prepare: PrepareWrite<Deps>;
}

export type OperationFunction<Deps> =
  | { kind: "read"; respond: Respond<Deps> }
  | WriteFunction<Deps>
  | { kind: "wait"; prepare: PrepareWait<Deps> };

/** Responds as of a head that was read after the request came, at which the key was live. */
export type Respond<Deps> = (
  deps: Deps,
  request: ApiRequest,
  entry: HeadEntry,
  apiKey: ApiKey,
) => HttpResponse | Promise<HttpResponse>;

/** Resolves to the function that carries out a request. Rejects with `HttpError` if the request is not valid. */
export type PrepareWrite<Deps> = (
  deps: Deps,
  request: ApiRequest,
  token: string,
) => Promise<() => Promise<HttpResponse>>;

/** The same as a write, but for a request that may take long and only reads. */
export type PrepareWait<Deps> = (
  deps: Deps,
  request: ApiRequest,
  entry: HeadEntry,
  token: string,
) => Promise<() => Promise<HttpResponse>>;
