/** A function that declares tests, each with what `open` opens, which is disposed of after the test. */
export function testWith<Opened extends AsyncDisposable | Disposable>(open: () => Promise<Opened>) {
  return (name: string, use: (opened: Opened) => Promise<void>): void => {
    Deno.test(name, async () => {
      await using opened = await open();
      await use(opened);
    });
  };
}
