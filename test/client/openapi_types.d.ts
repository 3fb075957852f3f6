export interface paths {
    "/pets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List animals
         * @description Lists the animals of the store, newest first, one page at a time.
         */
        get: operations["listPets"];
        put?: never;
        /**
         * Add an animal
         * @description Adds an animal. The service assigns its `id`. An omitted `status` stays absent.
         */
        post: operations["createPet"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/pets/{petId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an animal
         * @deprecated
         * @description Returns one animal. This operation will be removed on 05 Dec 2030: use `listPets` with a `status` instead.
         */
        get: operations["getPet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description The availability of the animal
         * @enum {string}
         */
        PetStatus: "available" | "pending" | "sold";
        /**
         * NewPet
         * @description The body of a request to add an animal
         */
        PetInput: {
            /** @description The animal's name */
            name: string;
            /**
             * Format: int64
             * @description The category that the animal belongs to
             */
            categoryId: number;
            status?: components["schemas"]["PetStatus"];
        };
        Pet: {
            /** @description The animal's name */
            name: string;
            /**
             * Format: int64
             * @description The category that the animal belongs to
             */
            categoryId: number;
            status?: components["schemas"]["PetStatus"];
            /**
             * Format: int64
             * @description The animal's identifier, given by the service
             */
            id: number;
        };
        Error: {
            /**
             * @description The kind of error, for programs: see the list of error codes
             * @enum {string}
             */
            code: "malformed_body" | "invalid_body" | "invalid_idempotency_key" | "invalid_parameter" | "malformed_request" | "missing_credentials" | "invalid_credentials" | "read_only_key" | "pet_not_found" | "not_found" | "method_not_allowed" | "request_timeout" | "idempotency_key_reused" | "body_too_large" | "unsupported_media_type" | "rate_limited" | "internal_error" | "projection_damaged" | "not_ready" | "outcome_unknown" | "overloaded" | "shutting_down" | "storage_full" | "store_unavailable";
            /** @description A description of the error for people, whose wording may change */
            message: string;
            /**
             * Format: int32
             * @description The HTTP status of the response
             */
            status: number;
        };
    };
    responses: never;
    parameters: {
        /** @description The `ETag` of a cached response. If it is still current, the status is 304 */
        IfNoneMatch: string;
    };
    requestBodies: never;
    headers: {
        /**
         * @description Identifies this response in the operator's logs
         * @example 01KA7Z9MZ4QH4C4P5R4Z2Y0V7B
         */
        RequestId: string;
        /** @description How to authenticate (RFC 6750 section 3) */
        Challenge: "Bearer" | "Bearer error=\"invalid_token\"" | "Bearer error=\"insufficient_scope\"";
        /**
         * @description Seconds to wait before the next attempt (RFC 9110 section 10.2.3)
         * @example 1
         */
        RetryAfter: number;
        /**
         * @description The origin of the calling script, if the operator allows scripts of that origin to read responses (https://fetch.spec.whatwg.org/#http-cors-protocol)
         * @example https://shop.example
         */
        AllowedOrigin: string;
        /**
         * @description If the operator has set a limit: how many requests (`r`) the API key can send within the next seconds (`t`). See draft-ietf-httpapi-ratelimit-headers-11.
         * @example "default";r=199;t=2
         */
        RateLimit: string;
        /**
         * @description If the operator has set a limit: how many requests (`q`) an API key can send within a number of seconds (`w`)
         * @example "default";q=200;w=2
         */
        RateLimitPolicy: string;
        /** @description The accepted content coding, if the body was encoded (RFC 9110 section 12.5.3) */
        AcceptEncoding: "identity";
        /**
         * @description The address of the next page (RFC 8288); absent on the last page
         * @example <http://localhost:8000/v1/pets?limit=20&cursor=81>; rel="next"
         */
        NextPage: string;
        /**
         * @description Changes exactly when the content changes; for use in `If-None-Match`
         * @example "304b5a44"
         */
        EntityTag: string;
        /** @description A client may cache the response, but must revalidate it each time */
        PrivateCaching: "private, no-cache";
        /** @description The response must not be cached */
        NeverStored: "no-store";
        /**
         * @description The address of the animal that was added
         * @example http://localhost:8000/v1/pets/1
         */
        Location: string;
        /** @description Present if the response repeats that of an earlier request with the same key */
        IdempotencyReplayed: "true";
        /** @description The date since which the operation is deprecated (RFC 9745) */
        Deprecation: "@1793491200";
        /** @description The date on which the operation will be removed (RFC 8594) */
        Sunset: "Thu, 05 Dec 2030 00:00:00 GMT";
        /**
         * @description The replacement of the operation (RFC 5829)
         * @example <http://localhost:8000/v1/pets?status=available>; rel="successor-version"
         */
        Successor: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listPets: {
        parameters: {
            query?: {
                /** @description The maximum number of animals on a page */
                limit?: number;
                /** @description Lists only animals of this availability; by default all animals */
                status?: components["schemas"]["PetStatus"];
                /** @description The start of the page, taken from the `Link` header of the previous page */
                cursor?: string;
            };
            header?: {
                /** @description The `ETag` of a cached response. If it is still current, the status is 304 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of animals; the `Link` header names the next page, if there is one */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Access-Control-Allow-Origin": components["headers"]["AllowedOrigin"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Link: components["headers"]["NextPage"];
                    "Cache-Control": components["headers"]["PrivateCaching"];
                    ETag: components["headers"]["EntityTag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": 1,
                     *         "name": "Rex",
                     *         "categoryId": 7,
                     *         "status": "available"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["Pet"][];
                };
            };
            /** @description The content is still the one that `If-None-Match` names */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Access-Control-Allow-Origin": components["headers"]["AllowedOrigin"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Link: components["headers"]["NextPage"];
                    "Cache-Control": components["headers"]["PrivateCaching"];
                    ETag: components["headers"]["EntityTag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /**
             * @description `malformed_request`: The Host or Content-Length header is missing, repeated or malformed
             *
             *     `invalid_parameter`: A query parameter is unknown, repeated or invalid
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Access-Control-Allow-Origin": components["headers"]["AllowedOrigin"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Cache-Control": components["headers"]["NeverStored"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_credentials`: The request has no API key
             *
             *     `invalid_credentials`: The API key is mistyped, unknown, expired or revoked
             */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Access-Control-Allow-Origin": components["headers"]["AllowedOrigin"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Cache-Control": components["headers"]["NeverStored"];
                    "WWW-Authenticate": components["headers"]["Challenge"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `rate_limited`: The API key sent more requests than the operator allows */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Access-Control-Allow-Origin": components["headers"]["AllowedOrigin"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Cache-Control": components["headers"]["NeverStored"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `internal_error`: The service failed unexpectedly
             *
             *     `projection_damaged`: The stored projections do not match the log
             */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Access-Control-Allow-Origin": components["headers"]["AllowedOrigin"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Cache-Control": components["headers"]["NeverStored"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `shutting_down`: This instance is shutting down; nothing was stored
             *
             *     `store_unavailable`: The store does not respond or is damaged; nothing was stored
             */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Access-Control-Allow-Origin": components["headers"]["AllowedOrigin"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Cache-Control": components["headers"]["NeverStored"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createPet: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: a new UUID for each animal, reused for every retry */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description The animal, without its identifier */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Rex",
                 *       "categoryId": 7,
                 *       "status": "available"
                 *     }
                 */
                "application/json": components["schemas"]["PetInput"];
            };
        };
        responses: {
            /** @description The animal was added, by this request or by an earlier one with the same key */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Access-Control-Allow-Origin": components["headers"]["AllowedOrigin"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Location: components["headers"]["Location"];
                    "Idempotency-Replayed": components["headers"]["IdempotencyReplayed"];
                    "Cache-Control": components["headers"]["NeverStored"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 1,
                     *       "name": "Rex",
                     *       "categoryId": 7,
                     *       "status": "available"
                     *     }
                     */
                    "application/json": components["schemas"]["Pet"];
                };
            };
            /**
             * @description `malformed_request`: The Host or Content-Length header is missing, repeated or malformed
             *
             *     `invalid_parameter`: A query parameter is unknown, repeated or invalid
             *
             *     `invalid_idempotency_key`: The Idempotency-Key header is empty, too long or has a character that is not allowed
             *
             *     `malformed_body`: The body is not one JSON object in UTF-8
             *
             *     `invalid_body`: The body lacks a required field, or has an invalid value or an unknown field
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Access-Control-Allow-Origin": components["headers"]["AllowedOrigin"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Cache-Control": components["headers"]["NeverStored"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_credentials`: The request has no API key
             *
             *     `invalid_credentials`: The API key is mistyped, unknown, expired or revoked
             */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Access-Control-Allow-Origin": components["headers"]["AllowedOrigin"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Cache-Control": components["headers"]["NeverStored"];
                    "WWW-Authenticate": components["headers"]["Challenge"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `read_only_key`: The API key may read animals, but not add any */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Access-Control-Allow-Origin": components["headers"]["AllowedOrigin"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Cache-Control": components["headers"]["NeverStored"];
                    "WWW-Authenticate": components["headers"]["Challenge"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `request_timeout`: The body did not arrive in time */
            408: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Access-Control-Allow-Origin": components["headers"]["AllowedOrigin"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Cache-Control": components["headers"]["NeverStored"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `idempotency_key_reused`: The Idempotency-Key was sent with another animal within the last 24 hours */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Access-Control-Allow-Origin": components["headers"]["AllowedOrigin"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Cache-Control": components["headers"]["NeverStored"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `body_too_large`: The body is larger than 64 KiB */
            413: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Access-Control-Allow-Origin": components["headers"]["AllowedOrigin"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Cache-Control": components["headers"]["NeverStored"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `unsupported_media_type`: The body is not declared as application/json, or is encoded */
            415: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Access-Control-Allow-Origin": components["headers"]["AllowedOrigin"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Cache-Control": components["headers"]["NeverStored"];
                    "Accept-Encoding": components["headers"]["AcceptEncoding"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `rate_limited`: The API key sent more requests than the operator allows */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Access-Control-Allow-Origin": components["headers"]["AllowedOrigin"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Cache-Control": components["headers"]["NeverStored"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `internal_error`: The service failed unexpectedly
             *
             *     `projection_damaged`: The stored projections do not match the log
             */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Access-Control-Allow-Origin": components["headers"]["AllowedOrigin"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Cache-Control": components["headers"]["NeverStored"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `shutting_down`: This instance is shutting down; nothing was stored
             *
             *     `store_unavailable`: The store does not respond or is damaged; nothing was stored
             *
             *     `outcome_unknown`: The store did not confirm the addition in time: the animal may or may not have been added
             *
             *     `overloaded`: Too many additions are waiting; nothing was stored
             *
             *     `storage_full`: The disk of the store is full; nothing was stored
             */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Access-Control-Allow-Origin": components["headers"]["AllowedOrigin"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Cache-Control": components["headers"]["NeverStored"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getPet: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of a cached response. If it is still current, the status is 304 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description The identifier of the animal
                 * @example 1
                 */
                petId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The animal */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Access-Control-Allow-Origin": components["headers"]["AllowedOrigin"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Successor"];
                    "Cache-Control": components["headers"]["PrivateCaching"];
                    ETag: components["headers"]["EntityTag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 1,
                     *       "name": "Rex",
                     *       "categoryId": 7,
                     *       "status": "available"
                     *     }
                     */
                    "application/json": components["schemas"]["Pet"];
                };
            };
            /** @description The content is still the one that `If-None-Match` names */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Access-Control-Allow-Origin": components["headers"]["AllowedOrigin"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Successor"];
                    "Cache-Control": components["headers"]["PrivateCaching"];
                    ETag: components["headers"]["EntityTag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /**
             * @description `malformed_request`: The Host or Content-Length header is missing, repeated or malformed
             *
             *     `invalid_parameter`: A query parameter is unknown, repeated or invalid
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Access-Control-Allow-Origin": components["headers"]["AllowedOrigin"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Cache-Control": components["headers"]["NeverStored"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `missing_credentials`: The request has no API key
             *
             *     `invalid_credentials`: The API key is mistyped, unknown, expired or revoked
             */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Access-Control-Allow-Origin": components["headers"]["AllowedOrigin"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Cache-Control": components["headers"]["NeverStored"];
                    "WWW-Authenticate": components["headers"]["Challenge"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `pet_not_found`: An animal with this identifier does not exist */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Access-Control-Allow-Origin": components["headers"]["AllowedOrigin"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Cache-Control": components["headers"]["NeverStored"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Successor"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `rate_limited`: The API key sent more requests than the operator allows */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Access-Control-Allow-Origin": components["headers"]["AllowedOrigin"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Cache-Control": components["headers"]["NeverStored"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `internal_error`: The service failed unexpectedly
             *
             *     `projection_damaged`: The stored projections do not match the log
             */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Access-Control-Allow-Origin": components["headers"]["AllowedOrigin"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Cache-Control": components["headers"]["NeverStored"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /**
             * @description `shutting_down`: This instance is shutting down; nothing was stored
             *
             *     `store_unavailable`: The store does not respond or is damaged; nothing was stored
             */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Access-Control-Allow-Origin": components["headers"]["AllowedOrigin"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Cache-Control": components["headers"]["NeverStored"];
                    "Retry-After": components["headers"]["RetryAfter"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
