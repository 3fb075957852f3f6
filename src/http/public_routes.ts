/** What stands outside /v1 and can be read without a key: answers to GET and HEAD, by path. */

import type { Answer } from "./answer.ts";
import { answerToHealth, answerToReadiness, type ReadinessParts } from "./probes.ts";

export type PublicRoutes = ReadonlyMap<string, () => Answer | Promise<Answer>>;

export function publicRoutes(parts: ReadinessParts): PublicRoutes {
  return new Map<string, () => Answer | Promise<Answer>>([
    ["/healthz", answerToHealth],
    ["/readyz", () => answerToReadiness(parts)],
  ]);
}
