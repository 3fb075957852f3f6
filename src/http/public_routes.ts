/** What stands outside /v1 and can be read without a key: answers to GET and HEAD, by path. */

import type { Answer } from "./answer.ts";
import { entityTag } from "./conditional_read.ts";
import { docsPageRoutes } from "./docs_page.ts";
import { type BaseAddresses, describeInterface } from "./openapi.ts";
import { answerToHealth, answerToReadiness, type ReadinessParts } from "./probes.ts";

export interface PublicParts extends ReadinessParts {
  /** Where clients find the service. */
  addresses: BaseAddresses;
}

export type PublicRoutes = ReadonlyMap<string, () => Answer | Promise<Answer>>;

export function publicRoutes(parts: PublicParts): PublicRoutes {
  let description: Answer | undefined;
  return new Map<string, () => Answer | Promise<Answer>>([
    ["/healthz", answerToHealth],
    ["/readyz", () => answerToReadiness(parts)],
    // Made when it is first asked for: tools, which are services too, start without it.
    ["/openapi.json", () => description ??= descriptionAnswer(parts.addresses)],
    ...docsPageRoutes(parts.addresses),
  ]);
}

function descriptionAnswer(addresses: BaseAddresses): Answer {
  const body = describeInterface(addresses);
  return { status: 200, body, headers: { "cache-control": "no-cache", etag: entityTag(body) } };
}
