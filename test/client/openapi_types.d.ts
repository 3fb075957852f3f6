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
         * @description The animals of the store, newest first, one page at a time.
         */
        get: operations["listPets"];
        put?: never;
        /**
         * Add an animal
         * @description Adds an animal; the service gives it its `id`. An omitted `status` stays absent.
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
         * @description One animal by its identifier. Deprecated, and to be removed on 05 Dec 2030: use `listPets` with a `status` instead.
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
        NewPet: {
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
             * @description What went wrong, for programs: see the list of error codes
             * @enum {string}
             */
            code: "malformed_body" | "invalid_body" | "invalid_idempotency_key" | "invalid_parameter" | "malformed_request" | "missing_credentials" | "invalid_credentials" | "pet_not_found" | "not_found" | "method_not_allowed" | "request_timeout" | "body_too_large" | "unsupported_media_type" | "idempotency_key_reused" | "rate_limited" | "internal_error" | "projection_damaged" | "not_ready" | "outcome_unknown" | "overloaded" | "shutting_down" | "store_unavailable";
            /** @description What went wrong, for people; the words may change */
            message: string;
            /** @description The HTTP status of the answer */
            status: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: {
        /**
         * @description Names this answer in the operator's records
         * @example 01KA7Z9MZ4QH4C4P5R4Z2Y0V7B
         */
        RequestId: string;
        /** @description How to authenticate (RFC 6750 section 3) */
        Challenge: "Bearer" | "Bearer error=\"invalid_token\"";
        /**
         * @description Seconds to wait before the next try (RFC 9110 section 10.2.3)
         * @example 1
         */
        RetryAfter: number;
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
        /** @description What may be sent, where the body was encoded (RFC 9110 section 12.5.3) */
        AcceptEncoding: "identity";
        /**
         * @description Names the next page (RFC 8288); absent on the last one
         * @example </v1/pets?limit=20&cursor=81>; rel="next"
         */
        NextPage: string;
        /**
         * @description Changes exactly when the answer does: for `If-None-Match`
         * @example "b56c655969147e6e31020b86f5267a00"
         */
        EntityTag: string;
        /** @description A client may keep the answer, and asks each time whether it still holds */
        Kept: "private, no-cache";
        /** @description The answer is for this request alone */
        NeverStored: "no-store";
        /**
         * @description The path of the animal that was added
         * @example /v1/pets/1
         */
        Location: string;
        /** @description Present where an earlier request with the same key was given this answer already */
        Replayed: "true";
        /** @description Since when the operation is deprecated (RFC 9745) */
        Deprecation: "@1793491200";
        /** @description When the operation is to be removed (RFC 8594) */
        Sunset: "Thu, 05 Dec 2030 00:00:00 GMT";
        /** @description What to use in place of the operation (RFC 5829) */
        Successor: "</v1/pets?status=available>; rel=\"successor-version\"";
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listPets: {
        parameters: {
            query?: {
                /** @description How many animals a page holds at most */
                limit?: number;
                /** @description Only animals of this availability; without it, all of them */
                status?: components["schemas"]["PetStatus"];
                /** @description Where the page begins: follow the `Link` header of the page before */
                cursor?: string;
            };
            header?: {
                /** @description The `ETag` of the answer that the client holds: 304 where it still holds */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of animals; the `Link` header names the next page, where there is one */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Link: components["headers"]["NextPage"];
                    "Cache-Control": components["headers"]["Kept"];
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
            /** @description The answer is still the one that `If-None-Match` names */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Link: components["headers"]["NextPage"];
                    "Cache-Control": components["headers"]["Kept"];
                    ETag: components["headers"]["EntityTag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /**
             * @description `malformed_request`: The Host or Content-Length header is missing, repeated or malformed
             *
             *     `invalid_parameter`: A query parameter is not known, is repeated or holds an invalid value
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
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
             * @description `missing_credentials`: The request bears no API key
             *
             *     `invalid_credentials`: The API key is mistyped, unknown, expired or revoked
             */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
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
            /** @description `rate_limited`: The API key sent more requests than the operator allows it */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
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
             * @description `internal_error`: The service failed in a way that it did not foresee
             *
             *     `projection_damaged`: The stored projections do not agree with the log
             */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
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
             *     `store_unavailable`: The store does not answer or is damaged; nothing was stored
             */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
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
                /** @description Makes a retry safe: a new UUID for each animal, the same one for each try */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Rex",
                 *       "categoryId": 7,
                 *       "status": "available"
                 *     }
                 */
                "application/json": components["schemas"]["NewPet"];
            };
        };
        responses: {
            /** @description The animal was added, by this request or by an earlier one with the same key */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Location: components["headers"]["Location"];
                    "Idempotency-Replayed": components["headers"]["Replayed"];
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
             *     `invalid_parameter`: A query parameter is not known, is repeated or holds an invalid value
             *
             *     `invalid_idempotency_key`: The Idempotency-Key header is empty, too long or holds characters that it must not
             *
             *     `malformed_body`: The body is not one JSON object in UTF-8
             *
             *     `invalid_body`: The body lacks a required field, holds an invalid value or a field that is not known
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
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
             * @description `missing_credentials`: The request bears no API key
             *
             *     `invalid_credentials`: The API key is mistyped, unknown, expired or revoked
             */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
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
            /** @description `idempotency_key_reused`: The Idempotency-Key was sent with another animal within the last 24 hours */
            422: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Cache-Control": components["headers"]["NeverStored"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `rate_limited`: The API key sent more requests than the operator allows it */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
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
             * @description `internal_error`: The service failed in a way that it did not foresee
             *
             *     `projection_damaged`: The stored projections do not agree with the log
             */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
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
             *     `store_unavailable`: The store does not answer or is damaged; nothing was stored
             *
             *     `outcome_unknown`: The store gave no clear answer in time: the animal may or may not have been added
             *
             *     `overloaded`: Too many additions are waiting; nothing was stored
             */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
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
                /** @description The `ETag` of the answer that the client holds: 304 where it still holds */
                "If-None-Match"?: string;
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
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Successor"];
                    "Cache-Control": components["headers"]["Kept"];
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
            /** @description The answer is still the one that `If-None-Match` names */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Successor"];
                    "Cache-Control": components["headers"]["Kept"];
                    ETag: components["headers"]["EntityTag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /**
             * @description `malformed_request`: The Host or Content-Length header is missing, repeated or malformed
             *
             *     `invalid_parameter`: A query parameter is not known, is repeated or holds an invalid value
             */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
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
             * @description `missing_credentials`: The request bears no API key
             *
             *     `invalid_credentials`: The API key is mistyped, unknown, expired or revoked
             */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
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
            /** @description `pet_not_found`: No animal has that identifier */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
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
            /** @description `rate_limited`: The API key sent more requests than the operator allows it */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
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
             * @description `internal_error`: The service failed in a way that it did not foresee
             *
             *     `projection_damaged`: The stored projections do not agree with the log
             */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
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
             *     `store_unavailable`: The store does not answer or is damaged; nothing was stored
             */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
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
