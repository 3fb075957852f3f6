import { assert, assertEquals } from "@std/assert";
import { importTestPackage, TEST_PACKAGES } from "../support/import_test_package.ts";
import { TYPES } from "./generate_types.ts";

const ROOT = new URL("../../", import.meta.url);

interface Pet {
  id: number;
  name: string;
  categoryId: number;
  status?: "available" | "pending" | "sold";
}

export interface PetClient {
  add(idempotencyKey: string, pet: Omit<Pet, "id">): Promise<Pet>;
  list(status?: Pet["status"]): AsyncGenerator<Pet>;
}

/** Checks the types of the client that the README shows, and creates one. */
export async function readmeClient(baseUrl: string, apiKey: string): Promise<PetClient> {
  await importTestPackage("openapi-fetch");
  const readme = await Deno.readTextFile(new URL("README.md", ROOT));
  const source = /^```ts\n(import createClient from "openapi-fetch";\n[^]*?)^```$/m.exec(readme)
    ?.[1];
  assert(source !== undefined, "The README shows no client");
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/pet_client.ts`;
    const specifier = JSON.stringify(TEST_PACKAGES["openapi-fetch"]);
    await Deno.writeTextFile(path, source.replace('"openapi-fetch"', specifier));
    await Deno.copyFile(TYPES, `${folder}/openapi_types.d.ts`);
    await checkTypes(path);
    const { petClient } = await import(`file://${path}`);
    return petClient(baseUrl, apiKey);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function checkTypes(path: string): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["check", "--quiet", "--lock=test/deno.lock", path],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
  }).output();
  assertEquals(success, true, new TextDecoder().decode(stderr));
}
