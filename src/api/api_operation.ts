import type { HeadEntry } from "eventstore-less/log/head.ts";
import type { ApiKey } from "../keys/api_key.ts";
import type { ApiRequest } from "./api_request.ts";
import type { HttpResponse } from "./http_response.ts";

/** An operation that needs an API key. */
export type ApiOperation<Deps> =
  | { kind: "read"; respond: Respond<Deps> }
  | { kind: "write"; prepare: PrepareWrite<Deps> }
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

/** As a write, for a request that may take long and only reads. */
export type PrepareWait<Deps> = (
  deps: Deps,
  request: ApiRequest,
  entry: HeadEntry,
  token: string,
) => Promise<() => Promise<HttpResponse>>;

/** A path below that of the interface, and the names of its operations. HEAD uses the operation of GET. */
export interface ApiRoute<Name extends string> {
  path: string;
  operations: { GET: Name; POST?: Name; PATCH?: Name; DELETE?: Name };
}
