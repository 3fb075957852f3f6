/** Declares tests that are ignored unless this run of the tests has what they need. */
export function testIf(isPossible: boolean) {
  return (name: string, fn: (test: Deno.TestContext) => Promise<void> | void): void =>
    Deno.test({ name, ignore: !isPossible, fn });
}
