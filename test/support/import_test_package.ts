/** The npm packages that only tests need: `deno task` downloads all of `deno.lock`, so `test/deno.lock` has them. */
export const TEST_PACKAGES = {
  "@redocly/openapi-core": "npm:@redocly/openapi-core@2.64.0",
  "axe-core": "npm:axe-core@4.14.1",
  "openapi-fetch": "npm:openapi-fetch@0.17.0",
  "openapi-typescript": "npm:openapi-typescript@7.13.0",
  "playwright-core": "npm:playwright-core@1.65.1",
  "standardwebhooks": "npm:standardwebhooks@1.1.1",
};

/** Imports one of these packages at run time only, because Deno resolves a literal specifier at every start. */
export async function importTestPackage(name: keyof typeof TEST_PACKAGES) {
  try {
    return await import(TEST_PACKAGES[name]);
  } catch (cause) {
    const hint = "run the test with deno task test, or with --lock=test/deno.lock";
    throw new Error(`Cannot import ${name}: ${hint}`, { cause });
  }
}
