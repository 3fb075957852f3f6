/**
 * Writes the types of the interface for TypeScript clients, generated from the OpenAPI document.
 *
 *     deno run -A test/client/generate_types.ts
 */

import { describeInterface } from "../../src/http/docs/openapi.ts";

export const TYPES = new URL("openapi_types.d.ts", import.meta.url);

export async function generateTypes(): Promise<string> {
  const { default: openapiTS, astToString } = await import("openapi-typescript");
  return astToString(await openapiTS(describeInterface({})));
}

if (import.meta.main) await Deno.writeTextFile(TYPES, await generateTypes());
