/**
 * Writes the types of the interface for TypeScript clients, generated from the OpenAPI document.
 *
 *     deno run -A --lock=test/deno.lock test/client/generate_types.ts
 */

import { describeInterface } from "../../src/http/docs/openapi.ts";
import { importTestPackage } from "../support/import_test_package.ts";

export const TYPES = new URL("openapi_types.d.ts", import.meta.url);

export async function generateTypes(): Promise<string> {
  const { default: openapiTS, astToString } = await importTestPackage("openapi-typescript");
  return astToString(await openapiTS(describeInterface({})));
}

if (import.meta.main) await Deno.writeTextFile(TYPES, await generateTypes());
